//! Laws between the simulator, real recordings and the engine.

mod captures;
