import fc from 'fast-check';

/** The same documents on every machine; FAST_CHECK_SEED looks for others. */
const DEFAULT_SEED = 20_261_121;

fc.configureGlobal({ seed: Number(process.env.FAST_CHECK_SEED ?? DEFAULT_SEED) });
