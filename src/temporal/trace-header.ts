/** The header of Temporal's own OpenTelemetry interceptors, so that clients and workers in other languages read it too. */
export const TRACE_HEADER = '_tracer-data';
