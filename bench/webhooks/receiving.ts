import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type SinkQuestion = 'clear' | 'count' | 'report';

export interface SinkCount {
  readonly count: number;
  /** Milliseconds since the epoch; 0 before the first. */
  readonly lastAt: number;
}

export type SinkReport = readonly { readonly at: number; readonly articleId: string }[];

export interface Sink {
  readonly urls: readonly string[];
  clear(): Promise<void>;
  count(): Promise<SinkCount>;
  report(): Promise<SinkReport>;
  close(): Promise<void>;
}

/** Starts receivers beside this process, each on a port of its own, so that receiving is not part of sending. They answer after `answerMs`. */
export async function startSink(receivers: number, answerMs = 0): Promise<Sink> {
  const child = fork(fileURLToPath(new URL('./sink.ts', import.meta.url)), [
    String(receivers),
    String(answerMs),
  ]);
  const [urls] = await once(child, 'message');
  async function ask<Answer>(question: SinkQuestion): Promise<Answer> {
    child.send(question);
    const [answer] = await once(child, 'message');
    return answer as Answer;
  }
  return {
    urls: urls as string[],
    clear: async () => void (await ask('clear')),
    count: () => ask<SinkCount>('count'),
    report: () => ask<SinkReport>('report'),
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
