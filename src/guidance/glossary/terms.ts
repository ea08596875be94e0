import { sql } from 'kysely';
import { requirePermissions, type VerbContext } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import { type PageRequest, readPage } from '../../http/paging.ts';
import type { GlossaryTermId, WorkspaceId } from '../../ids.ts';
import type { GlossaryTerm, TermPair } from '../../providers/types.ts';
import { doTask } from '../../threads/pool.ts';
import { inTheBackground } from '../../threads/share.ts';
import { type GlossaryTermResponse, termColumns, toTerm } from './schemas.ts';

/** One page of the workspace's terms, the newest first (articles.read). */
export async function listTerms(
  { db, actor }: VerbContext,
  {
    sourceLanguage,
    targetLanguage,
    ...page
  }: PageRequest<GlossaryTermId> & {
    readonly sourceLanguage?: string | undefined;
    readonly targetLanguage?: string | undefined;
  },
): Promise<{ terms: GlossaryTermResponse[]; nextCursor: string | null }> {
  requirePermissions(actor, 'articles.read');
  let query = db
    .selectFrom('glossary_terms')
    .select(termColumns)
    .where('workspace_id', '=', actor.workspaceId);
  if (sourceLanguage !== undefined) query = query.where('source_language', '=', sourceLanguage);
  if (targetLanguage !== undefined) {
    query = query.where((eb) =>
      eb.or([eb('target_language', '=', targetLanguage), eb('target_language', 'is', null)]),
    );
  }
  const { rows, nextCursor } = await readPage(db, query, page);
  return { terms: rows.map(toTerm), nextCursor };
}

/** Independent of the database's collation. */
const byKey = sql<string>`term_key COLLATE "C"`;

/**
 * The tags whose terms serve a language, the nearest first: its own, then those without region and variant that are
 * written in the same script. `pt` serves `pt-BR`; `zh` does not serve `zh-TW`.
 */
export function servingTags(tag: string): string[] {
  const locale = new Intl.Locale(tag);
  const { script } = locale.maximize();
  const { language, region } = locale;
  const nearest = [[region], [script], []].map((parts) =>
    [language, ...parts].filter((part) => part !== undefined).join('-'),
  );
  return [...new Set([tag, locale.baseName, ...nearest])].filter(
    (other) => new Intl.Locale(other).maximize().script === script,
  );
}

/**
 * The terms for this pair of languages, in a fixed order. Of several for the same words the one for the nearest target
 * language wins, then the one from the nearest source language; one for every language comes last (contract.md V12).
 */
export async function glossaryOf(
  db: Queryable,
  workspaceId: WorkspaceId,
  sourceLanguage: string,
  targetLanguage: string,
): Promise<GlossaryTerm[]> {
  const [sources, targets] = [servingTags(sourceLanguage), servingTags(targetLanguage)];
  return db
    .selectFrom('glossary_terms')
    .distinctOn(byKey)
    .select(['source_term as source', 'target_term as target', 'case_sensitive as caseSensitive'])
    .where('workspace_id', '=', workspaceId)
    .where('source_language', 'in', sources)
    .where((eb) => eb.or([eb('target_language', 'in', targets), eb('target_language', 'is', null)]))
    .orderBy(byKey)
    .orderBy(sql`array_position(${targets}::text[], target_language)`, (order) => order.asc().nullsLast())
    .orderBy(sql`array_position(${sources}::text[], source_language)`)
    .execute();
}

/** The terms that occur in the texts, at most `MAX_OCCURRING`; searched off the event loop. */
export async function glossaryIn(
  db: Queryable,
  workspaceId: WorkspaceId,
  languages: { readonly source: string; readonly target: string },
  texts: readonly string[],
): Promise<GlossaryTerm[]> {
  const terms = await glossaryOf(db, workspaceId, languages.source, languages.target);
  return occurringIn(workspaceId, terms, texts, languages.source);
}

/** Those of the terms that occur in the texts of a language, at most `MAX_OCCURRING`; searched off the event loop. */
export async function occurringIn<Term extends TermPair | GlossaryTerm>(
  workspaceId: WorkspaceId,
  terms: readonly Term[],
  texts: readonly string[],
  language: string,
): Promise<Term[]> {
  if (terms.length === 0) return [];
  const byPlace = new Map(texts.map((text, place) => [String(place), text]));
  const found = await inTheBackground(workspaceId, () =>
    doTask('termsIn', JSON.stringify(terms), byPlace, language),
  );
  return JSON.parse(found) as Term[];
}
