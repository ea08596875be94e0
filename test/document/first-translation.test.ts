import fc from 'fast-check';
import { expect, it } from 'vitest';
import { applyRefresh } from '../../src/document/refresh/apply.ts';
import { newDraft } from '../../src/document/refresh/draft.ts';
import { planRefresh, segmentsToSend } from '../../src/document/refresh/plan.ts';
import { compare } from '../../src/document/refresh/states.ts';
import { reassemble } from '../../src/document/translation/reassemble.ts';
import { extractSegments } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import type { AssetId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import '../support/fast-check.ts';
import { anySource, fill, parsedOnce, refresh } from './versions.ts';

const json = (value: unknown): string => JSON.stringify(value);

// contract.md T53
it('gives what the refresh of an empty draft gives, byte for byte, on 100 random documents', () => {
  fc.assert(
    parsedOnce(anySource, (source) => {
      const { plan, input, result } = fill(source);
      const draft = newDraft(source.title);
      const planned = planRefresh(source, draft, plan.adopted, { apply: 'untouched', proposed: [] });
      expect(json({ ...planned, isFirst: true, adopted: plan.adopted })).toBe(json(plan));
      const refreshed = applyRefresh(planned, { ...input, provenance: plan.adopted });
      expect(refreshed.proposals).toEqual([]);
      expect(json(refreshed)).toBe(json(result));
    }),
    { numRuns: 100 },
  );
});

// contract.md T53
it('writes every text of the source, and leaves nothing to refresh', () => {
  fc.assert(
    parsedOnce(anySource, (source) => {
      const { plan, input, result } = fill(source);
      expect(json(segmentsToSend(plan))).toBe(json(extractSegments(source)));
      const whole = reassemble(source, input.translations, new Map(input.copyIds));
      const shown = ({ document, ...fields }: Pick<Snapshot, 'document' | 'title'>) => {
        const blocks = document.blocks.map((block) => ({ ...block, links: undefined }));
        return json([fields.title, blocks]);
      };
      expect(shown(result.content)).toBe(shown(whole));
      expect(result.content.assets.map(({ altText }) => altText)).toEqual([...whole.altTexts.values()]);
      const { units } = compare(source, result.content, result.provenance);
      expect(new Set(units.map(({ state }) => state))).toEqual(new Set(['current']));
      expect(refresh(source, result).plan.steps).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

// contract.md T54
it('keeps what a person set in the draft, and has it refreshed no earlier than a person decides', () => {
  fc.assert(
    parsedOnce(
      anySource,
      fc.constantFrom('title', 'metaTitle', 'targetKeywords', 'cover'),
      (source, what) => {
        const cover = { ...source.assets[0], id: 'own' as AssetId, role: 'hero', altText: 'Own' };
        const draft = {
          ...newDraft(source.title),
          ...(what === 'title' ? { title: 'Own title' } : {}),
          ...(what === 'metaTitle' ? { metaTitle: 'Own meta title' } : {}),
          ...(what === 'targetKeywords' ? { targetKeywords: ['own keyword'] } : {}),
          ...(what === 'cover' ? { assets: [cover] } : {}),
        } as Snapshot;
        const { plan, result } = fill(source, draft);
        const { content } = result;
        expect(result.proposals).toEqual([]);
        if (what === 'cover') expect(content.assets.filter(({ role }) => role === 'hero')).toEqual([cover]);
        else {
          expect(content[what]).toEqual(draft[what]);
          expect(segmentsToSend(plan).filter(({ key }) => key.startsWith(what.slice(0, 13)))).toEqual([]);
        }
        const others = { ...content, [what]: undefined, assets: [] };
        const plain = { ...fill(source).result.content, [what]: undefined, assets: [] };
        expect(json(others).replaceAll(/"assetId":"[^"]+"/g, '')).toBe(
          json(plain).replaceAll(/"assetId":"[^"]+"/g, ''),
        );
        expect(refresh(source, result).result.applied).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

// contract.md V22
it('carries the source in place of a text that nothing usable came for, and makes it again later', () => {
  fc.assert(
    parsedOnce(anySource, fc.nat(), (source, nth) => {
      const { plan, input } = fill(source);
      const keys = [...input.translations.keys()];
      const left = keys[nth % Math.max(1, keys.length)];
      if (left === undefined) return;
      const translations = new Map([...input.translations, [left, null]]);
      const result = applyRefresh(plan, { ...input, translations });
      expect(result.content.document.blocks).toHaveLength(source.document.blocks.length);
      const again = refresh(source, result).segments.map(({ text }) => text);
      const text = segmentsToSend(plan).find(({ key }) => key === left)?.text;
      expect(again).toContain(text);
      expect(pseudoLocalize(text ?? '')).toBe(input.translations.get(left));
    }),
    { numRuns: 60 },
  );
});
