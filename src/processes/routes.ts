import type { Logger } from 'pino';
import { createApiKeyRoutes } from '../api-keys/routes.ts';
import { createWhoamiRoutes } from '../api-keys/whoami-routes.ts';
import { createRevisionRoutes } from '../articles/revisions/routes.ts';
import { createArticleRoutes } from '../articles/routes.ts';
import { createImageFetcher } from '../assets/fetch-image.ts';
import { imageReportExample } from '../assets/regenerate/examples.ts';
import { readImageReport } from '../assets/regenerate/report.ts';
import { createRegenerationRoutes } from '../assets/regenerate/routes.ts';
import { imageReportSchema } from '../assets/regenerate/schemas.ts';
import { createAssetRoutes } from '../assets/routes.ts';
import { createAuditRoutes } from '../audit/routes.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { createCategoryRoutes } from '../categories/routes.ts';
import { createCreditRoutes } from '../credits/routes.ts';
import { createEventRoutes } from '../events/log/routes.ts';
import type { EventWatch } from '../events/log/watch.ts';
import type { GenerationFeatures } from '../generation/price.ts';
import {
  generationReportExample,
  generationReportSchema,
  readGenerationReport,
} from '../generation/report.ts';
import { createGenerationRoutes } from '../generation/routes.ts';
import { createBrandVoiceRoutes } from '../guidance/brand-voices/routes.ts';
import { createContentTemplateRoutes } from '../guidance/content-templates/routes.ts';
import { createGlossaryRoutes } from '../guidance/glossary/routes.ts';
import { createStyleRoutes } from '../guidance/styles/routes.ts';
import type { HttpLimits } from '../http/limits.ts';
import type { RouteModule } from '../http/route.ts';
import { createReportRoute } from '../jobs/report-route.ts';
import { createJobRoutes } from '../jobs/routes.ts';
import { createJobRuns } from '../jobs/runs.ts';
import type { TurnLimits } from '../jobs/turns.ts';
import { countUnpaid } from '../jobs/unpaid.ts';
import type { JobWatch } from '../jobs/watch.ts';
import type { MediaProcessor } from '../media/media.ts';
import type { AddressGuard } from '../outbound/resolver.ts';
import { createProjectRoutes } from '../projects/routes.ts';
import { createResearchRoutes } from '../research/routes.ts';
import { createReviewRoutes } from '../reviews/routes.ts';
import { createRoleRoutes } from '../roles/routes.ts';
import { createSuggestionRoutes } from '../suggestions/routes.ts';
import type { TaskQueues } from '../temporal/task-queues.ts';
import type { TemporalClient } from '../temporal/workflow-client.ts';
import { createAttachRoutes } from '../translations/attach/routes.ts';
import { createMemoryRoutes } from '../translations/memory/routes.ts';
import type { CatchUp } from '../translations/project/catch-up.ts';
import { createProjectTranslationRoutes } from '../translations/project/routes.ts';
import { createRefreshRoutes } from '../translations/refresh/routes.ts';
import { reportExample } from '../translations/report/examples.ts';
import { readReport } from '../translations/report/read.ts';
import { reportSchema } from '../translations/report/schemas.ts';
import { createTranslationRoutes } from '../translations/routes.ts';
import { createStyleSheetRoutes } from '../translations/style-sheet/routes.ts';
import type { RunCanceller } from '../webhooks/endpoints/run-canceller.ts';
import { createWebhookRoutes } from '../webhooks/routes.ts';
import type { SecretRing } from '../webhooks/secrets/ring.ts';
import type { WebhookSender } from '../webhooks/sending/sender.ts';
import { createWorkspaceRoutes } from '../workspaces/routes.ts';
import { jobAreas } from './job-areas.ts';

export interface RouteDependencies extends TurnLimits {
  readonly client: TemporalClient;
  readonly names: TaskQueues;
  readonly logger: Logger;
  /** Of webhooks. */
  readonly guard: AddressGuard;
  /** Of images by URL. */
  readonly imageGuard: AddressGuard;
  readonly sender: WebhookSender;
  readonly secrets: SecretRing;
  readonly limits: HttpLimits;
  readonly blobs: BlobStore;
  readonly media: MediaProcessor;
  readonly runCanceller: RunCanceller;
  readonly jobWatch: JobWatch;
  readonly eventWatch: EventWatch;
  /** Whether a model draws images. */
  readonly canDraw: boolean;
  /** Counts the states of versions in the background. */
  readonly catchUp: CatchUp;
  /** What generations have besides writing. */
  readonly features: GenerationFeatures;
  /** How long a paid request waits for its result, in milliseconds. */
  readonly aiWaitMs: number;
}

/** Every operation of the service, in the order of its reference page. */
export function createRoutes(dependencies: RouteDependencies): RouteModule[] {
  const jobRuns = createJobRuns({ ...dependencies, areas: jobAreas });
  return [
    ...createApiKeyRoutes(),
    ...createWhoamiRoutes(dependencies.limits),
    ...createRoleRoutes(),
    ...createWebhookRoutes(dependencies),
    ...createEventRoutes(dependencies.eventWatch),
    ...createProjectRoutes(),
    ...createArticleRoutes((tx, job) => countUnpaid(tx, jobAreas, job, 'cancelled')),
    ...createRevisionRoutes(),
    ...createReviewRoutes(),
    ...createAssetRoutes({
      blobs: dependencies.blobs,
      media: dependencies.media,
      fetchImage: createImageFetcher({ guard: dependencies.imageGuard, media: dependencies.media }),
    }),
    ...createRegenerationRoutes(jobRuns, dependencies.canDraw),
    ...createCategoryRoutes(),
    ...createSuggestionRoutes(dependencies),
    ...createTranslationRoutes(jobRuns),
    ...createAttachRoutes(),
    ...createProjectTranslationRoutes(dependencies.catchUp),
    ...createStyleSheetRoutes(),
    ...createRefreshRoutes(jobRuns),
    ...createMemoryRoutes(),
    ...createBrandVoiceRoutes(),
    ...createContentTemplateRoutes(),
    ...createGlossaryRoutes(),
    ...createStyleRoutes(),
    ...createGenerationRoutes(jobRuns, dependencies.features),
    ...createResearchRoutes(),
    ...createJobRoutes(jobRuns, dependencies.jobWatch),
    createReportRoute({
      translation: { schema: reportSchema, example: reportExample, read: readReport },
      generation: {
        schema: generationReportSchema,
        example: generationReportExample,
        read: readGenerationReport,
      },
      image: { schema: imageReportSchema, example: imageReportExample, read: readImageReport },
    }),
    ...createCreditRoutes(),
    ...createAuditRoutes(),
    ...createWorkspaceRoutes(),
  ];
}
