/**
 * Heartbeats to Temporal at a steady pace from now on.
 * @param beat sends one sign of life
 */
export async function whileBeating<Result>(
  everyMs: number,
  beat: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const pulse = setInterval(beat, everyMs);
  try {
    beat();
    return await work();
  } finally {
    clearInterval(pulse);
  }
}
