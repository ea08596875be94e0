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

/** Starts receivers in another process, each on a port of its own. They respond after `delayMs`. */
export async function startSink(receivers: number, delayMs = 0): Promise<Sink> {
  const child = fork(fileURLToPath(new URL('./sink.ts', import.meta.url)), [
    String(receivers),
    String(delayMs),
  ]);
  const [urls] = await once(child, 'message');
  async function request<Reply>(question: SinkQuestion): Promise<Reply> {
    child.send(question);
    const [reply] = await once(child, 'message');
    return reply as Reply;
  }
  return {
    urls: urls as string[],
    clear: async () => void (await request('clear')),
    count: () => request<SinkCount>('count'),
    report: () => request<SinkReport>('report'),
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
