import type { Share } from './share.ts';

interface Waiting {
  readonly start: () => void;
  readonly timer: NodeJS.Timeout;
}

interface Line {
  readonly waiting: Set<Waiting>;
  running: number;
  /** Turns that all lines together had had when this one had its last; 0 before its first. */
  servedAt: number;
}

export interface FairQueueOptions {
  /** Pieces of work that run at the same time. */
  readonly slots: number;
  /** Of these, those of one share. */
  readonly slotsOfOne: number;
  /** Pieces of one share that may wait. */
  readonly waitingOfOne: number;
  /** What a piece is refused with that waited too long, or has too many before it. */
  readonly refusal: () => Error;
}

/** Lets shares take turns: however much one of them asks for, the others' next piece of work comes after its next. */
export class FairQueue {
  private readonly lines = new Map<string, Line>();
  private readonly options: FairQueueOptions;
  private running = 0;
  private turns = 0;

  constructor(options: FairQueueOptions) {
    this.options = options;
  }

  /** Pieces of work that wait or run. */
  get size(): number {
    let size = this.running;
    for (const { waiting } of this.lines.values()) size += waiting.size;
    return size;
  }

  /**
   * Runs `work` when it is the share's turn.
   * @throws the queue's refusal
   */
  async run<Result>(share: Share, work: () => Promise<Result>): Promise<Result> {
    const line = this.line(share.of);
    await this.turn(share.of, line, share.waitMs);
    try {
      return await work();
    } finally {
      line.running -= 1;
      this.running -= 1;
      if (line.running === 0 && line.waiting.size === 0) this.lines.delete(share.of);
      this.next();
    }
  }

  private line(of: string): Line {
    const known = this.lines.get(of);
    if (known !== undefined) return known;
    const line: Line = { waiting: new Set(), running: 0, servedAt: 0 };
    this.lines.set(of, line);
    return line;
  }

  private turn(of: string, line: Line, waitMs: number): Promise<void> {
    if (line.waiting.size >= this.options.waitingOfOne) return Promise.reject(this.options.refusal());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        line.waiting.delete(entry);
        if (line.running === 0 && line.waiting.size === 0) this.lines.delete(of);
        reject(this.options.refusal());
      }, waitMs);
      const entry: Waiting = { start: resolve, timer };
      line.waiting.add(entry);
      this.next();
    });
  }

  private next(): void {
    while (this.running < this.options.slots) {
      const line = this.whoseTurn();
      const [entry] = line?.waiting ?? [];
      if (line === undefined || entry === undefined) return;
      line.waiting.delete(entry);
      clearTimeout(entry.timer);
      line.running += 1;
      this.running += 1;
      this.turns += 1;
      line.servedAt = this.turns;
      entry.start();
    }
  }

  /** Of the lines that wait and may have one more, the one whose last turn is longest ago. */
  private whoseTurn(): Line | undefined {
    let first: Line | undefined;
    for (const line of this.lines.values()) {
      if (line.waiting.size === 0 || line.running >= this.options.slotsOfOne) continue;
      if (first === undefined || line.servedAt < first.servedAt) first = line;
    }
    return first;
  }
}
