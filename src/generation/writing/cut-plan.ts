import { cutAtWord } from '../../document/text/characters.ts';
import { codePoints } from '../../fields.ts';
import type { Outline } from '../outline.ts';
import { tidy } from './markdown/bound.ts';
import type { Plan, PlanOutput } from './plan.ts';

/** Characters of the whole plan, of a section's, and of each text that is about the whole article. */
const MAX_PLAN = 6_000;
const MAX_SECTION = 300;
const MAX_STATEMENT = 250;
/** Characters of the wishes for the opening, for the end and for all: of each. */
const MAX_WISHES = 400;
const MAX_WISH = 200;

/** Takes texts one by one until their characters are used up. */
class Room {
  private left: number;

  constructor(characters: number) {
    this.left = characters;
  }

  text(raw: string, most = this.left): string {
    const text = cutAtWord(line(raw), Math.min(most, this.left));
    this.left -= codePoints(text);
    return text;
  }

  /** As many of the texts as fit whole, without repetitions. */
  list(raws: readonly string[], most = this.left): string[] {
    const fitting: string[] = [];
    for (const text of new Set(raws.map(line))) {
      const length = codePoints(text);
      if (length === 0 || length > Math.min(most, this.left)) continue;
      this.left -= length;
      fitting.push(text);
    }
    return fitting;
  }
}

const line = (raw: string): string => tidy(raw).replace(/\s+/g, ' ');

/** The plan within its bounds: at most 6,000 characters, 300 of them for a section (contract.md G66). */
export function cutPlan(output: PlanOutput, outline: Outline): Plan {
  const statement = (text: string) => new Room(MAX_STATEMENT).text(text);
  const wished = (texts: readonly string[]) => new Room(MAX_WISHES).list(texts, MAX_WISH);
  const whole = 4 * MAX_STATEMENT + 3 * MAX_WISHES;
  const each = Math.min(MAX_SECTION, Math.floor((MAX_PLAN - whole) / outline.sections.length));
  return {
    reader: statement(output.reader),
    question: statement(output.question),
    thesis: statement(output.thesis),
    promise: statement(output.promise),
    opening: output.opening,
    sections: outline.sections.flatMap(({ id }, index) => {
      const found = output.sections.find(({ number }) => number === index + 1);
      if (found === undefined) return [];
      const room = new Room(each);
      const adds = room.text(found.adds, Math.ceil(each * 0.4));
      const wishes = room.list(found.wishes);
      return [{ id, adds, wishes, keywords: room.list(found.keywords), avoids: room.text(found.avoids) }];
    }),
    openingWishes: wished(output.openingWishes),
    endingWishes: wished(output.endingWishes),
    generalWishes: wished(output.generalWishes),
  };
}
