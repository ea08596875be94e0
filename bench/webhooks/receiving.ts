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
  /** Forgets what it has received. @returns what that was */
  clear(): Promise<SinkCount>;
  count(): Promise<SinkCount>;
  report(): Promise<SinkReport>;
  close(): Promise<void>;
}

/** What a receiver that limits has seen; instants in milliseconds since the epoch. */
export interface LimitedReport {
  refused: number;
  /** When the first request came. */
  firstAt: number;
  /** When each of those came that were taken. */
  readonly takenAt: number[];
}

/** Starts a receiver in another process that takes `rate` requests a second. @param says whether it sends Retry-After */
export async function startLimited(rate: number, says: boolean) {
  const script = fileURLToPath(new URL('./limited-sink.ts', import.meta.url));
  const { urls, request, close } = await startProcess(script, [String(rate), String(says)]);
  return { urls, close, report: () => request<LimitedReport>('report') };
}

/** Starts receivers in another process, each on a port of its own. They respond after `delayMs`. */
export async function startSink(receivers: number, delayMs = 0): Promise<Sink> {
  const script = fileURLToPath(new URL('./sink.ts', import.meta.url));
  const { urls, request, close } = await startProcess(script, [String(receivers), String(delayMs)]);
  return {
    urls,
    clear: () => request<SinkCount>('clear'),
    count: () => request<SinkCount>('count'),
    report: () => request<SinkReport>('report'),
    close,
  };
}

/** Forks receivers, which send their URLs first and then respond to each question. */
async function startProcess(script: string, args: readonly string[]) {
  const child = fork(script, args);
  const [urls] = await once(child, 'message');
  return {
    urls: urls as string[],
    async request<Reply>(question: SinkQuestion): Promise<Reply> {
      child.send(question);
      const [reply] = await once(child, 'message');
      return reply as Reply;
    },
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
