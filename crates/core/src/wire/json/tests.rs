//! Documents that are no JSON, no object, or wrapped in an envelope.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use super::{
    AnyScalar, Bytes, Fields, Scalar, VALUE_BYTES_MAX, Wanted, is_word, read_object, wanted,
};
use crate::wire::JsonProblem;
use serde::de::MapAccess;

fn state(document: &[u8]) -> Result<Option<String>, JsonProblem> {
    let [state] = wanted(document, ["state"])?;
    Ok(match state {
        Scalar::Text(text) => Some(text.into_owned()),
        _ => None,
    })
}

#[test]
fn fields_are_found_in_any_order_and_place() {
    let text = |text: &str| Ok(Some(text.to_owned()));
    assert_eq!(state(br#"{"state":"A"}"#), text("A"));
    assert_eq!(
        state(br#" {"x":[{"state":"no"}],"state":"A","y":{"state":"no"}} "#),
        text("A")
    );
    assert_eq!(state(br#"{"st\u0061te":"\u0041"}"#), text("A"));
    assert_eq!(state(br#"{"state":"A","state":"B"}"#), text("B"));
    assert_eq!(state(br#"{}"#), Ok(None));
}

#[test]
fn an_envelope_of_a_converter_with_schemas_is_opened() {
    let schema = r#""schema":{"type":"struct","fields":[{"field":"state"}]}"#;
    let document = format!(r#"{{{schema},"payload":{{"state":"A"}}}}"#);
    assert_eq!(state(document.as_bytes()), Ok(Some("A".to_owned())));
    assert_eq!(
        state(format!(r#"{{{schema},"payload":null}}"#).as_bytes()),
        Ok(None)
    );
    assert_eq!(state(br#"{"payload":"text"}"#), Err(JsonProblem::WrongType));
}

#[test]
fn problems_have_kinds() {
    for (document, problem) in [
        (&b""[..], JsonProblem::Truncated),
        (b"{", JsonProblem::Truncated),
        (br#"{"state":"RUNNING""#, JsonProblem::Truncated),
        (br#"{"x":[1,"#, JsonProblem::Truncated),
        (br#"{"state":"A"} x"#, JsonProblem::Syntax),
        (br#"{"state" "A"}"#, JsonProblem::Syntax),
        (br#"{'state':'A'}"#, JsonProblem::Syntax),
        (b"{\"state\":\"\xff\"}", JsonProblem::BadUtf8),
        (b"\xff\xfe", JsonProblem::BadUtf8),
        (b"[]", JsonProblem::NotAnObject),
        (b"null", JsonProblem::NotAnObject),
        (b"\"state\"", JsonProblem::NotAnObject),
        (b"12", JsonProblem::NotAnObject),
    ] {
        assert_eq!(
            state(document),
            Err(problem),
            "{}",
            String::from_utf8_lossy(document)
        );
    }
    let large = vec![b' '; VALUE_BYTES_MAX + 1];
    assert_eq!(state(&large), Err(JsonProblem::TooLarge));
    assert_eq!(state(&large[1..]), Err(JsonProblem::Truncated));
}

#[test]
fn scalars_keep_their_types() {
    struct All<'de>(Vec<Scalar<'de>>);
    impl<'de> Fields<'de> for All<'de> {
        fn field<A: MapAccess<'de>>(&mut self, _: &[u8], map: &mut A) -> Result<(), A::Error> {
            self.0.push(map.next_value_seed(AnyScalar)?);
            Ok(())
        }
    }
    let mut all = All(Vec::new());
    let document = br#"{"a":null,"b":true,"c":-3,"d":"t","e":[[1]],"f":{"g":{}},"h":1.5,"i":18446744073709551615}"#;
    read_object(document, &mut all).unwrap();
    let kinds: Vec<String> = all.0.iter().map(|scalar| format!("{scalar:?}")).collect();
    let expected = [
        "Null",
        "Bool(true)",
        "Int(-3)",
        "Text(\"t\")",
        "Other",
        "Other",
        "Other",
        "Other",
    ];
    assert_eq!(kinds, expected);
    assert_eq!(all.0[2].i32("c"), Ok(-3));
    assert_eq!(all.0[0].i32("a"), Err(JsonProblem::FieldMissing.of("a")));
    assert_eq!(all.0[1].i32("b"), Err(JsonProblem::WrongType.of("b")));
    assert_eq!(
        Scalar::Int(1 << 40).i32("c"),
        Err(JsonProblem::OutOfBounds.of("c"))
    );
    assert_eq!(all.0[3].text("d", |_| true), Ok("t"));
    assert_eq!(
        all.0[3].text("d", |_| false),
        Err(JsonProblem::OutOfBounds.of("d"))
    );
    assert_eq!(
        Scalar::Absent.text("d", |_| true),
        Err(JsonProblem::FieldMissing.of("d"))
    );
}

#[test]
fn bytes_take_what_strings_do_not() {
    struct Trace(Option<Vec<u8>>);
    impl<'de> Fields<'de> for Trace {
        fn field<A: MapAccess<'de>>(&mut self, _: &[u8], map: &mut A) -> Result<(), A::Error> {
            self.0 = map
                .next_value_seed(Bytes { keep_max: 6 })?
                .map(|cow| cow.into_owned());
            Ok(())
        }
    }
    let trace = |document: &[u8]| {
        let mut trace = Trace(None);
        read_object(document, &mut trace).map(|()| trace.0)
    };
    assert_eq!(trace(br#"{"trace":null}"#), Ok(None));
    assert_eq!(
        trace(br#"{"trace":"abcdefghij"}"#),
        Ok(Some(b"abcdef".to_vec()))
    );
    assert_eq!(
        trace(br#"{"trace":"a\nbcdefghij"}"#),
        Ok(Some(b"a\nbcde".to_vec()))
    );
    // A lone surrogate, a raw newline, bytes that are no UTF-8.
    assert_eq!(
        trace(br#"{"trace":"\ud800"}"#),
        Ok(Some(vec![0xed, 0xa0, 0x80]))
    );
    assert_eq!(trace(b"{\"trace\":\"a\nb\"}"), Ok(Some(b"a\nb".to_vec())));
    assert_eq!(trace(b"{\"trace\":\"\xff\"}"), Ok(Some(vec![0xff])));
    assert_eq!(trace(br#"{"trace":7}"#), Err(JsonProblem::WrongType));
}

#[test]
fn depth_costs_an_error_and_no_stack() {
    let deep = |open: &str| [r#"{"x":"#, &open.repeat(200_000)].concat();
    assert_eq!(
        read_object(deep("[").as_bytes(), &mut Wanted::new([])),
        Err(JsonProblem::Truncated)
    );
    let result = wanted(deep("[").as_bytes(), ["x"]).map(|_| ());
    assert_eq!(result, Err(JsonProblem::Truncated));
}

#[test]
fn words_are_short_and_plain() {
    assert!(is_word("RUNNING") && is_word("4.1.0-rc1") && is_word(&"a".repeat(64)));
    for bad in ["", "a b", "a\n", "ä", "a:b", "${x}", &"a".repeat(65)] {
        assert!(!is_word(bad), "{bad:?}");
    }
}
