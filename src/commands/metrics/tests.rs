//! What the command prints.

use super::*;

fn printed(format: MetricsFormat) -> String {
    let mut out = Vec::new();
    run(MetricsArgs { format }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn each_format_is_the_catalogue() {
    assert_eq!(printed(MetricsFormat::Markdown), catalog::markdown());
    assert_eq!(printed(MetricsFormat::Json), catalog::json());
    let text = printed(MetricsFormat::Text);
    assert!(
        text.starts_with("evenkeel_group_info{group,protocol,leader} (info)\n    The protocol"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 2 * catalog::ALL.len());
}

#[test]
fn a_closed_pipe_is_an_error_not_a_panic() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = run(
        MetricsArgs {
            format: MetricsFormat::Text,
        },
        &mut Closed,
    )
    .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}
