import type { ContentTables } from './tables/content.ts';
import type { JobTables } from './tables/jobs.ts';
import type { ResearchTables } from './tables/research.ts';
import type { TranslationTables } from './tables/translations.ts';
import type { WebhookTables } from './tables/webhooks.ts';
import type { WorkspaceTables } from './tables/workspaces.ts';

export * from './tables/content.ts';
export * from './tables/jobs.ts';
export * from './tables/research.ts';
export * from './tables/translations.ts';
export * from './tables/webhooks.ts';
export * from './tables/workspaces.ts';

/** All tables, as Kysely reads and writes them. */
export interface Tables
  extends ContentTables,
    JobTables,
    ResearchTables,
    TranslationTables,
    WebhookTables,
    WorkspaceTables {}
