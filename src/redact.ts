const SECRET = /(wcsk_|whsec_)[A-Za-z0-9_+/=-]+/g;

/** The text with any API key or webhook secret cut back to its marker. */
export const redactSecrets = (text: string): string => text.replace(SECRET, '$1[redacted]');
