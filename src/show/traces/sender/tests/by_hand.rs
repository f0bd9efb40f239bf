//! Traces that a person sends.

use super::{Receiver, sample, traces};
use crate::config::TraceProtocol;
use crate::show::traces::sender::send_all;
use crate::show::traces::tree::SPANS_MAX;
use crate::show::traces::wire::SendError;
use crate::show::traces::wire::receiver::{Answer, client};

#[tokio::test]
async fn sending_by_hand_says_what_came_of_it() {
    let receiver = Receiver::start(Answer::Take).await;
    let client = client(&receiver, TraceProtocol::Http);
    let taken = send_all(&client, traces(3, SPANS_MAX)).await.unwrap();
    assert_eq!((taken.rejected, receiver.requests()), (0, 3));
    receiver.answer(Answer::Status(401));
    let refused = send_all(&client, traces(3, 1)).await.unwrap_err();
    assert!(
        matches!(&refused, SendError::Unwelcome(why) if why.contains("401")),
        "{refused}"
    );
    assert_eq!(receiver.requests(), 4);
}

#[tokio::test]
async fn what_is_refused_by_hand_takes_nothing_else_with_it() {
    let receiver = Receiver::start(Answer::TakeUpTo(4)).await;
    let client = client(&receiver, TraceProtocol::Http);
    let all = vec![sample(1, 3), sample(2, 5), sample(3, 2)];
    let taken = send_all(&client, all).await.unwrap();
    assert_eq!(taken.rejected, 5);
    assert!(taken.why.contains("413"), "{taken:?}");
    assert_eq!(receiver.spans_of_requests(), [10, 3, 5, 2]);
}
