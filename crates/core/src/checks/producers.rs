//! What connectors set for their producers over what their worker's file sets.

use super::inputs::{DELIVERY, LINGER, PRODUCER_REQUEST, PRODUCERS, REBALANCE};
use super::known::{Known, Producer};
use super::look::{Look, group, passes, subject};
use super::releases::Whose;
use super::source::{Source, Value};
use super::{Judgement, clients};
use crate::facts::observation::Override;

const OWN_DELIVERY: &str = "producer.override.delivery.timeout.ms";
const OWN_REQUEST: &str = "producer.override.request.timeout.ms";

/// Whether each connector's delivery is given less than one request.
pub(super) fn below_request(known: &Known) -> Vec<Judgement> {
    let producers = known.producers.iter().flatten();
    let judged = producers.flat_map(|producer| {
        subject(known, &producer.connector, |look| {
            let Some(delivery) = delivery(look, producer)? else {
                return passes();
            };
            let request = match producer.request {
                Override::Unset => of_workers(look, PRODUCER_REQUEST)?,
                own => set(look, producer, OWN_REQUEST, PRODUCER_REQUEST, own)?,
            };
            // However long the worker lets records linger, it is not less than nothing.
            if delivery < request {
                return clients::below_request(delivery, request);
            }
            let linger = of_workers(look, LINGER)?;
            clients::below_request(delivery, request.saturating_add(linger))
        })
    });
    judged.collect()
}

/// Whether each connector's delivery is given less than a rebalance may take.
pub(super) fn cuts_patience(known: &Known) -> Vec<Judgement> {
    let Some(producers) = &known.producers else {
        return group(known, |look| {
            look.misses(PRODUCERS);
            None
        });
    };
    let rebalances = known.workers.iter();
    let rebalances = rebalances.filter_map(|worker| worker.number(REBALANCE));
    let longest = rebalances.max_by_key(|rebalance| rebalance.value);
    let judged = producers.iter().flat_map(|producer| {
        subject(known, &producer.connector, |look| {
            // One that sets a request's time alone has the worker's delivery.
            if producer.delivery == Override::Unset {
                return passes();
            }
            let delivery = set(look, producer, OWN_DELIVERY, DELIVERY, producer.delivery)?;
            let rebalance = look.value(REBALANCE, longest.as_ref())?;
            clients::cuts_patience(delivery, rebalance)
        })
    });
    judged.collect()
}

/// The delivery that a connector's producer has; `Some(None)` where nobody sets one: Connect
/// lets it try for ever.
fn delivery(look: &mut Look<'_>, producer: &Producer) -> Option<Option<i64>> {
    if producer.delivery != Override::Unset {
        return set(look, producer, OWN_DELIVERY, DELIVERY, producer.delivery).map(Some);
    }
    let workers = &look.known.workers;
    let written = workers.iter().filter(|w| w.settings.contains_key(DELIVERY));
    let written: Vec<Option<Value<i64>>> = written.map(|w| w.written(DELIVERY)).collect();
    if written.is_empty() {
        if workers.is_empty() || workers.iter().any(|worker| !worker.is_complete) {
            look.misses(DELIVERY);
            return None;
        }
        return Some(None);
    }
    let least = written.into_iter().min_by_key(|value| {
        // What is not known may be the least.
        value.as_ref().map_or(i64::MIN, |value| value.value)
    });
    look.value(DELIVERY, least.flatten().as_ref()).map(Some)
}

/// What a connector sets.
fn set(
    look: &mut Look<'_>,
    producer: &Producer,
    own: &str,
    name: &str,
    to: Override,
) -> Option<i64> {
    let Override::To(ms) = to else {
        look.misses(name);
        return None;
    };
    let name_of_topic = producer.topic.clone();
    let source = Source::Topic {
        name: name_of_topic,
    };
    look.show(own, &Value::new(ms, source));
    Some(ms)
}

/// The largest that a worker's file says or means; a task may run on any of them.
fn of_workers(look: &mut Look<'_>, name: &'static str) -> Option<i64> {
    let workers = look.known.workers.iter();
    let values: Option<Vec<Value<i64>>> = workers
        .map(|worker| worker.client(Whose::Producer, name))
        .collect();
    let largest = values.and_then(|all| all.into_iter().max_by_key(|value| value.value));
    look.value(name, largest.as_ref())
}
