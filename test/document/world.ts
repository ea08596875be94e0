/** Two articles that people and refreshes change in any order, and what is known about each text. */
import { expect } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { compare } from '../../src/document/refresh/states.ts';
import { taughtBy } from '../../src/document/refresh/taught.ts';
import type { Proposal } from '../../src/document/refresh/types.ts';
import { fieldsOf } from '../../src/document/refresh/units.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import {
  acceptProposal,
  NOTHING,
  openAfter,
  refresh,
  rejectProposal,
  translateNew,
  type Version,
} from './versions.ts';

export const paragraph = (id: string, text: string): Block => ({ id, type: 'paragraph', text });
export const article = (blocks: readonly Block[]): Snapshot => ({
  ...NOTHING,
  title: 'A title',
  document: { version: 1, blocks: [...blocks] },
});
export const withBlock = (content: Snapshot, block: Block): Snapshot => ({
  ...content,
  document: {
    version: 1,
    blocks: content.document.blocks.map((old) => (old.id === block.id ? block : old)),
  },
});

export const KINDS = [
  'source',
  'sourceBack',
  'sourceAdds',
  'edit',
  'lateText',
  'restore',
  'adds',
  'removes',
  'refresh',
  'refresh',
  'propose',
  'accept',
  'reject',
] as const;

export interface Step {
  readonly what: (typeof KINDS)[number];
  readonly at: number;
  readonly to: number;
}

/** A block of the kind of its place, with texts that say which they are. */
export function blockOf(place: number, edition: number): Block {
  const [one, two, three] = [0, 1, 2].map((text) => `Words ${place} ${text} ${edition % (text + 2)}`) as [
    string,
    string,
    string,
  ];
  const id = `b${place}`;
  if (place % 3 === 0) return paragraph(id, one);
  if (place % 3 === 1) return { id, type: 'list', ordered: false, items: [one, two, three] };
  return { id, type: 'table', header: [one], rows: [[two], [three]] };
}

const textsOf = (block: Block): string[] =>
  fieldsOf('title', { type: 'block', block }).map(({ text }) => text);

export class World {
  source: Snapshot;
  version: Version;
  open: Proposal[] = [];
  /** Contents that a refresh has seen or written. */
  readonly seen: Snapshot[] = [];
  readonly sources: Snapshot[] = [];
  /** Source texts that a text of the version was written for. */
  readonly madeFor = new Map<string, Set<string>>();
  /** The source's blocks as they were translated last. */
  readonly translated = new Map<string, Block>();
  private edits = 0;

  constructor(blocks: readonly Block[]) {
    this.source = article(blocks);
    this.version = translateNew(this.source);
    for (const block of blocks) this.translated.set(block.id, block);
    this.note();
  }

  /** Notes what stands on both sides. */
  private note(): void {
    this.sources.push(this.source);
    for (const { document } of this.sources.slice(-1)) {
      for (const text of document.blocks.flatMap(textsOf)) this.wrote(pseudoLocalize(text), text);
    }
  }

  private wrote(text: string, ...sources: string[]): void {
    this.madeFor.set(text, new Set([...(this.madeFor.get(text) ?? []), ...sources]));
  }

  private idOf(key: string): string | undefined {
    return this.version.provenance.find((unit) => unit.key === `block:${key}`)?.blockId;
  }

  private setBlock(block: Block): void {
    this.version = { ...this.version, content: withBlock(this.version.content, block) };
  }

  private keep(result: Version & { readonly sources: readonly (readonly [string, unknown])[] }): void {
    for (const [key, value] of result.sources) {
      const id = key.slice('block:'.length);
      const block = (value as { block?: Block } | null)?.block;
      if (block) this.translated.set(id, block);
    }
    this.version = { content: result.content, provenance: result.provenance };
    this.seen.push(result.content);
  }

  take({ what, at, to }: Step): void {
    const { source, version } = this;
    const pick = <Value>(values: readonly Value[], by: number): Value | undefined =>
      values[by % values.length];
    const block = pick(version.content.document.blocks, at);
    switch (what) {
      case 'source': {
        const old = pick(source.document.blocks, at);
        if (old) this.source = withBlock(source, blockOf(Number(old.id.slice(1)), to));
        this.note();
        return;
      }
      case 'sourceBack':
        this.source = pick(this.sources, at) ?? source;
        return;
      case 'sourceAdds': {
        const id = 9 + (to % 3);
        if (source.document.blocks.some((one) => one.id === `b${id}`)) return;
        const blocks = source.document.blocks.toSpliced(at % 9, 0, blockOf(id, to));
        this.source = { ...source, document: { version: 1, blocks } };
        this.note();
        return;
      }
      case 'edit': {
        if (block === undefined) return;
        this.edits += 1;
        const mine = `Mine ${this.edits}`;
        const key = version.provenance.find(({ blockId }) => blockId === block.id)?.key.slice(6) ?? '';
        const from = [source.document.blocks.find(({ id }) => id === key), this.translated.get(key)];
        this.wrote(mine, ...from.flatMap((one) => (one ? textsOf(one) : [])));
        if (block.type === 'paragraph') this.setBlock({ ...block, text: mine });
        if (block.type === 'list')
          this.setBlock({ ...block, items: block.items.with(to % block.items.length, mine) });
        if (block.type === 'table') this.setBlock({ ...block, header: [mine] });
        return;
      }
      case 'lateText': {
        const old = pick(this.seen, to)?.document.blocks.find(({ id }) => id === block?.id);
        if (old) this.setBlock(old);
        return;
      }
      case 'restore':
        this.version = { ...version, content: pick(this.seen, at) ?? version.content };
        return;
      case 'adds': {
        const id = `b${9 + (to % 3)}`;
        if (version.content.document.blocks.some((one) => one.id === id)) return;
        this.edits += 1;
        const own = paragraph(id, `Mine ${this.edits}`);
        this.wrote(`Mine ${this.edits}`);
        if (this.version.provenance.some(({ blockId }) => blockId === id)) return;
        const blocks = version.content.document.blocks.toSpliced(at % 9, 0, own);
        this.version = { ...version, content: { ...version.content, document: { version: 1, blocks } } };
        return;
      }
      case 'removes': {
        const blocks = version.content.document.blocks.filter((one) => one !== block);
        if (blocks.length < 7) return;
        this.version = { ...version, content: { ...version.content, document: { version: 1, blocks } } };
        return;
      }
      case 'refresh':
      case 'propose':
        this.refresh(what === 'refresh' ? 'untouched' : 'none');
        return;
      default:
        this.decide(pick(this.open, at), what);
    }
  }

  private refresh(apply: 'untouched' | 'none'): void {
    const { source, version } = this;
    this.seen.push(version.content);
    const { result } = refresh(source, version, { apply, proposed: this.open });
    const after = new Map(result.content.document.blocks.map((block) => [block.id, block]));
    const known = new Set(version.provenance.map(({ blockId }) => blockId));
    for (const block of version.content.document.blocks) {
      const isMine = textsOf(block).some((text) => text.startsWith('Mine '));
      if (isMine || !known.has(block.id)) expect(after.get(block.id)).toEqual(block);
    }
    this.open = openAfter(this.open, result);
    this.keep(result);
    const units = new Set(this.version.provenance.map(({ key }) => key));
    const proposed = new Set(this.open.map(({ key }) => key));
    for (const { id } of source.document.blocks) {
      expect(units.has(`block:${id}`) || proposed.has(`block:${id}`), `lost ${id}`).toBe(true);
    }
  }

  private decide(proposal: Proposal | undefined, what: 'accept' | 'reject'): void {
    if (proposal === undefined) return;
    const { content, provenance } = this.version;
    const before = new Set(provenance.map(({ blockId }) => blockId));
    const own = content.document.blocks.filter(({ id }) => !before.has(id));
    if (what === 'accept') {
      const accepted = acceptProposal(content, provenance, proposal);
      if (accepted === null) return;
      this.seen.push(content);
      this.keep(accepted);
    } else {
      const rejected = rejectProposal(content, provenance, proposal);
      const id = this.idOf(proposal.key.slice('block:'.length));
      const stands = content.document.blocks.find((block) => block.id === id);
      const from = proposal.newSource?.type === 'block' ? textsOf(proposal.newSource.block) : [];
      // A person has said that what stands there is a translation of that source.
      if (stands) for (const text of textsOf(stands)) this.wrote(text, ...from);
      this.keep({ content, ...rejected });
    }
    expect(this.version.content.document.blocks).toEqual(expect.arrayContaining(own));
    this.open = this.open.filter((one) => one !== proposal);
  }

  check(): void {
    const { content, provenance } = this.version;
    const wrong: string[] = [];
    for (const { source, target } of taughtBy(this.source, content, provenance)) {
      if (!source.startsWith('Words ')) continue;
      if (!this.madeFor.get(target)?.has(source)) wrong.push(`${source} -> ${target}`);
    }
    for (const { state, source, version } of compare(this.source, content, provenance).units) {
      if (state !== 'current' || source?.value.type !== 'block' || version?.value.type !== 'block') continue;
      const from = textsOf(source.value.block);
      for (const [index, text] of textsOf(version.value.block).entries()) {
        if (!this.madeFor.get(text)?.has(from[index] ?? '')) wrong.push(`${text} is current`);
      }
    }
    expect(wrong).toEqual([]);
  }
}
