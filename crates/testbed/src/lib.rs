//! Real Kafka brokers and Connect workers for tests, and the truth about them.
