/**
 * Heartbeats to Temporal at a steady pace. The first is due after `everyMs`: Temporal has just started the activity,
 * and each heartbeat costs it a commit.
 * @param beat sends one heartbeat
 */
export async function whileBeating<Result>(
  everyMs: number,
  beat: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const pulse = setInterval(beat, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(pulse);
  }
}
