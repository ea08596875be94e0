/** SECRETS_KEYS of processes that tests, soaks and benches start. */
export const SECRETS_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;
