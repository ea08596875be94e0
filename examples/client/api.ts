// biome-ignore-all format: written by generate.ts
/** The calls of Workspace Content Service, written by generate.ts from /openapi.json. */

export type Problem = { type: string; title: string; status: number; detail: string; code: 'INVALID_REQUEST' | 'UNAUTHENTICATED' | 'INSUFFICIENT_CREDITS' | 'FORBIDDEN' | 'RESOURCE_NOT_FOUND' | 'METHOD_NOT_ALLOWED' | 'CONFLICT' | 'GONE' | 'PRECONDITION_FAILED' | 'PAYLOAD_TOO_LARGE' | 'UNSUPPORTED_MEDIA_TYPE' | 'QUOTA_EXCEEDED' | 'RATE_LIMITED' | 'INTERNAL_ERROR' | 'SERVICE_UNAVAILABLE'; requestId: string; details?: { permissions?: string[]; reason?: string; proposals?: ({ id: string; reason: 'changed' | 'full' | 'quota' })[]; oldest?: string; latest?: string }; errors?: { pointer: string; detail: string }[]; errorsOmitted?: number };

export type ApiKey = { id: string; label: string; prefix: string; roleId: string | null; createdAt: string; lastUsedAt: string | null; expiresAt: string | null; revokedAt: string | null };

export type CreatedApiKey = { apiKey: { id: string; prefix: string; label: string }; key: string };

export type Role = { id: string; name: string; permissions: ('api_keys.create' | 'api_keys.read' | 'api_keys.revoke' | 'articles.create' | 'articles.delete' | 'articles.generate' | 'articles.publish' | 'articles.read' | 'articles.review' | 'articles.update' | 'audit.read' | 'categories.create' | 'categories.delete' | 'categories.read' | 'categories.update' | 'credits.read' | 'generation.configure' | 'integrations.create' | 'integrations.delete' | 'integrations.read' | 'projects.create' | 'projects.delete' | 'projects.read' | 'projects.update' | 'roles.create' | 'roles.delete' | 'roles.read' | 'roles.update' | 'translations.configure' | 'workspaces.delete')[]; builtIn: boolean; createdAt: string; updatedAt: string };

export type WebhookEndpoint = { id: string; url: string; events: EventName[]; active: boolean; createdAt: string; description: string; pausedAt: string | null; disabledFor: 'operator' | 'failing' | null; rateLimit: number | null; headers: string[]; rotationEndsAt: string | null };

export type EventName = 'article.created' | 'article.generation.started' | 'article.generation.completed' | 'article.generation.failed' | 'article.approved' | 'article.rejected' | 'article.published' | 'article.updated' | 'article.unpublished' | 'image.generated' | 'image.regenerated' | 'credits.purchased' | 'credits.granted' | 'credits.consumed';

export type WebhookDelivery = { id: string; endpointId: string; eventType: EventName; status: 'pending' | 'succeeded' | 'failed'; attempts: number; responseStatus: number | null; errorMessage: string | null; deliveredAt: string | null; createdAt: string };

export type RegisteredWebhookEndpoint = { endpoint: { id: string; url: string; events: EventName[]; active: boolean; createdAt: string }; secret: string };

export type OpenWebhookDelivery = { id: string; endpointId: string; eventType: EventName; status: 'pending' | 'succeeded' | 'failed'; attempts: number; responseStatus: number | null; errorMessage: string | null; deliveredAt: string | null; createdAt: string; nextAttemptAt: string | null; workflowId: string | null };

export type WebhookPingResult = { delivered: boolean; responseStatus: number | null; errorMessage: string | null; durationMs: number; responseBody: string | null; note?: string };

export type RotatedWebhookSecret = { secret: string; activeAt: string };

export type WebhookEndpointHealth = { status: 'ok' | 'failing' | 'warning' | 'paused' | 'disabled'; lastSuccessAt: string | null; failingSince: string | null; failedDeliveries: number; disabledFrom: string | null; day: { attempts: number; succeeded: number; successRate: number | null; p95Ms: number | null }; open: number; nextAttemptAt: string | null; behind: { since: string; events: number } | null; missed: { from: string; to: string } | null };

export type ListedWebhookDelivery = { id: string; endpointId: string; eventType: EventName; status: 'pending' | 'succeeded' | 'failed'; attempts: number; responseStatus: number | null; errorMessage: string | null; deliveredAt: string | null; createdAt: string; eventId: string; nextAttemptAt: string | null };

export type WebhookDeliveryDetail = { id: string; endpointId: string; eventType: EventName; status: 'pending' | 'succeeded' | 'failed'; attempts: number; responseStatus: number | null; errorMessage: string | null; deliveredAt: string | null; createdAt: string; nextAttemptAt: string | null; workflowId: string | null; body: string; attemptLog: WebhookAttempt[] };

export type WebhookAttempt = { number: number; startedAt: string; durationMs: number; responseStatus: number | null; errorMessage: string | null; responseBody: string | null; note?: string };

export type LoggedEvent = { id: string; type: EventName; articleId: string | null; createdAt: string; body: { event: EventName; data: Record<string, unknown> } };

export type Project = { id: string; workspaceId: string; name: string; languages: string[]; primaryLanguage: string; addressTemplate: string | null; imageSettings: { hero: { style: 'photorealistic' | 'editorial' | 'minimalist-vector' | '3d-render' | 'watercolor' | 'corporate-tech' | 'cinematic' | 'illustration' | null }; inline: { style: 'photorealistic' | 'editorial' | 'minimalist-vector' | '3d-render' | 'watercolor' | 'corporate-tech' | 'cinematic' | 'illustration' | null } }; citations: 'links' | 'list' | 'none'; defaultBrandVoiceId: string | null; archivedAt: string | null; createdAt: string; updatedAt: string };

export type ArticleSummary = { id: string; workspaceId: string; projectId: string; title: string; slug: string; status: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED'; metaTitle: string | null; metaDescription: string | null; targetKeywords: string[]; secondaryKeywords: string[]; primaryLanguage: string; translationGroupId: string; createdBy: string | null; publishedAt: string | null; briefId: string | null; publishedUrl: string | null; wordCount: number | null; createdAt: string; updatedAt: string };

export type Article = { id: string; workspaceId: string; projectId: string; title: string; slug: string; status: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED'; documentJson: { version: 1; blocks: ({ id: string; type: 'heading'; level: number; text: string; format?: 'markdown' } | { id: string; type: 'paragraph'; text: string; links?: { text: string; articleId: string }[]; format?: 'markdown' } | { id: string; type: 'list'; ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: null[] } | null)[] } | null)[] } | null)[]; format?: 'markdown' } | { id: string; type: 'quote'; text: string; attribution?: string; links?: { text: string; articleId: string }[]; format?: 'markdown' } | { id: string; type: 'image'; assetId: string; altText: string; caption?: string } | { id: string; type: 'code'; text: string; language?: string } | { id: string; type: 'table'; header: string[]; rows: string[][]; align?: ('left' | 'center' | 'right' | null)[]; format?: 'markdown' } | { id: string; type: 'divider' })[] }; contentHtml: string | null; contentMarkdown: string | null; metaTitle: string | null; metaDescription: string | null; targetKeywords: string[]; secondaryKeywords: string[]; primaryLanguage: string; translationGroupId: string; generationConfig: Record<string, unknown> | null; outline: Record<string, unknown> | null; createdBy: string | null; publishedAt: string | null; briefId: string | null; publishedUrl: string | null; wordCount: number | null; createdAt: string; updatedAt: string; contentTag: string };

export type RevisionSummary = { id: string; title: string; wordCount: number | null; author: { kind: 'api_key' | 'operator' | 'job'; id: string | null } | null; savedAt: string | null; replacedAt: string };

export type Revision = { id: string; title: string; wordCount: number | null; author: { kind: 'api_key' | 'operator' | 'job'; id: string | null } | null; savedAt: string | null; replacedAt: string; metaTitle: string | null; metaDescription: string | null; targetKeywords: string[]; secondaryKeywords: string[]; documentJson: { version: 1; blocks: ({ id: string; type: 'heading'; level: number; text: string; format?: 'markdown' } | { id: string; type: 'paragraph'; text: string; links?: { text: string; articleId: string }[]; format?: 'markdown' } | { id: string; type: 'list'; ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: null[] } | null)[] } | null)[] } | null)[]; format?: 'markdown' } | { id: string; type: 'quote'; text: string; attribution?: string; links?: { text: string; articleId: string }[]; format?: 'markdown' } | { id: string; type: 'image'; assetId: string; altText: string; caption?: string } | { id: string; type: 'code'; text: string; language?: string } | { id: string; type: 'table'; header: string[]; rows: string[][]; align?: ('left' | 'center' | 'right' | null)[]; format?: 'markdown' } | { id: string; type: 'divider' })[] } };

export type Review = { id: string; articleId: string; workspaceId: string; decision: 'approved' | 'rejected' | 'changes_requested'; previousStatus: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED'; comment: string; contentTag: string | null; createdAt: string };

export type Asset = { id: string; articleId: string; workspaceId: string; role: 'hero' | 'inline'; mediaType: string; byteSize: number; fileName: string; altText: string; url: string; width: number | null; height: number | null; previewUrl: string | null; thumbnailUrl: string | null; prompt: string | null; createdAt: string };

export type RegenerationEstimate = { quality: 'standard' | 'hd'; total: number };

export type Wallet = { balance: number; reserved: number; available: number };

export type Job = { id: string; articleId: string; workspaceId: string; projectId: string; status: 'QUEUED' | 'TRANSLATING' | 'VALIDATING' | 'RESEARCHING' | 'OUTLINING' | 'WRITING' | 'GENERATING_IMAGE_PROMPTS' | 'GENERATING_IMAGES' | 'PROCESSING_MEDIA' | 'FINALIZING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'; kind: 'generation' | 'translation'; currentStep: 'validate' | 'research' | 'outline' | 'write' | 'image-prompts' | 'images' | 'media-processing' | 'translate' | 'finalize' | null; progress: number; idempotencyKey: string; estimatedCredits: number; reservedCredits: number; consumedCredits: number; errorCode: 'GENERATION_FAILED' | 'TRANSLATION_FAILED' | null; errorMessage: string | null; createdAt: string };

export type ListedCategory = { id: string; workspaceId: string; primaryLanguage: string; createdAt: string; updatedAt: string; translations: CategoryName[]; articleCount: number };

export type CategoryName = { id: string; categoryId: string; workspaceId: string; language: string; name: string; slug: string; createdAt: string; updatedAt: string };

export type Category = { id: string; workspaceId: string; primaryLanguage: string; createdAt: string; updatedAt: string; translations: CategoryName[] };

export type ReducedCategory = { id: string; primaryLanguage: string; translations: { language: string; name: string; slug: string }[] };

export type TranslationStates = { current: number; stale: number; edited: number; editedAndStale: number; new: number; gone: number };

export type Estimate = { words: number; total: number };

export type UnitPair = { source: string; version: string };

export type StyleSheet = { language: string; address: 'formal' | 'informal' | 'impersonal' | 'du' | 'ihr' | 'Sie' | 'tu' | 'vous' | 'tú' | 'vos' | 'vosotros' | 'usted' | 'ustedes' | 'Lei' | 'voi' | 'você' | 'o senhor' | 'je' | 'u' | 'ty' | 'Pan/Pani' | 'vy' | 'ты' | 'вы' | 'です・ます' | 'だ・である' | '합니다' | '해요' | null; gender: 'neutral' | 'paired' | 'masculine' | 'feminine' | null; quotes: '„…“' | '„…”' | '“…”' | '”…”' | '‘…’' | '"…"' | '«…»' | '« … »' | '»…«' | '「…」' | '『…』' | null; numbers: '1.234,5' | '1 234,5' | '1,234.5' | '1’234.5' | '1’234,5' | '12,34,567.8' | null; dates: '31.12.2026' | '31/12/2026' | '31-12-2026' | '12/31/2026' | '2026-12-31' | '2026/12/31' | '2026. 12. 31.' | '2026年12月31日' | null; titleCase: 'sentence' | 'title' | null; variant: 'de-DE' | 'de-AT' | 'de-CH' | 'en-US' | 'en-GB' | 'es-ES' | 'es-419' | 'es-MX' | 'fr-FR' | 'fr-CA' | 'fr-CH' | 'nl-NL' | 'nl-BE' | 'pt-BR' | 'pt-PT' | 'sr-Cyrl' | 'sr-Latn' | 'zh-Hans' | 'zh-Hant' | null; terms: { source: string; target: string }[]; updatedAt: string };

export type RefreshEstimate = { blocks: number; changedBlocks: number; changedFields: number; changedImages: number; words: number; total: number };

export type UnitState = { unit: string; blockId: string | null; assetId: string | null; path: string | null; state: 'current' | 'stale' | 'edited' | 'editedAndStale' | 'new' | 'gone'; writtenBy: { kind: 'job' | 'person'; jobId: string | null; at: string | null } | null; proposalId: string | null };

export type Proposal = { id: string; articleId: string; jobId: string; unit: string; action: 'replace' | 'insert' | 'remove'; reason: 'asked' | 'unmanaged' | 'ids' | 'edited' | 'saved' | 'full'; oldSource: Record<string, unknown> | null; newSource: Record<string, unknown> | null; current: Record<string, unknown> | null; value: Record<string, unknown> | null; createdAt: string };

export type TranslationMemoryEntry = { id: string; origin: 'people' | 'engine'; kind: 'title' | 'metaTitle' | 'metaDescription' | 'keyword' | 'linkTitle' | 'heading' | 'paragraph' | 'listItem' | 'quote' | 'attribution' | 'tableCell' | 'caption' | 'altText'; sourceLanguage: string; language: string; sourceText: string; targetText: string; projectId: string; article: { id: string; title: string }; serves: boolean; createdAt: string };

export type BrandVoiceSummary = { id: string; name: string; isDefault: boolean; createdAt: string; updatedAt: string };

export type BrandVoice = { id: string; name: string; isDefault: boolean; createdAt: string; updatedAt: string; instructions: string };

export type ContentTemplateSummary = { id: string; name: string; builtIn: boolean; createdAt: string | null; updatedAt: string | null };

export type ContentTemplate = { id: string; name: string; builtIn: boolean; createdAt: string | null; updatedAt: string | null; text: string };

export type GlossaryTerm = { id: string; sourceLanguage: string; targetLanguage: string | null; source: string; target: string | null; caseSensitive: boolean; createdAt: string; updatedAt: string };

export type TranslationStyle = { language: string; formality: 'formal' | 'informal' | null; instructions: string | null; updatedAt: string };

export type GenerationEstimate = { text: number; images: number; imageCount: number; research: number; factChecking: number; total: number };

export type GenerationConfig = { topic: string; prompt?: string | null; primaryKeyword?: string | null; secondaryKeywords?: string[] | null; audience?: string | null; tone?: string | null; language?: string | null; wordCount?: number | null; imageStyle?: 'photorealistic' | 'editorial' | 'minimalist-vector' | '3d-render' | 'watercolor' | 'corporate-tech' | 'cinematic' | 'illustration' | null; imageCount?: number | null; writingQuality?: 'standard' | 'premium' | null; imageQuality?: 'standard' | 'hd' | null; brandVoiceId?: string | null; contentTemplateId?: string | null; sourceUrl?: string | null; researchEnabled?: boolean | null; reviewOutline?: boolean | null; faq?: boolean | null };

export type GenerationWarning = { code: 'language_differs'; message: string };

export type Outline = { title: string; slug: string; metaTitle: string; metaDescription: string; sections: ({ id: string; heading: string; level: 2 | 3; purpose: string; keywords: string[]; estimatedWords: number })[] };

export type OutlineInput = { title: string; slug: string; metaTitle: string; metaDescription: string; sections: ({ id: string; heading: string; level: 2 | 3; purpose: string; keywords?: string[] | null; estimatedWords: number })[] };

export type Source = { id: string; url: string; title: string; site: string; publishedAt: string | null; fetchedAt: string; notes: { id: string; quote: string }[] };

export type Claim = { id: string; blockId: string; sentence: string; verdict: 'supported' | 'contradicted' | 'not_found'; changed: boolean; sourceId: string | null; passage: string | null };

export type TranslationReport = { jobId: string; articleId: string; status: 'QUEUED' | 'TRANSLATING' | 'VALIDATING' | 'RESEARCHING' | 'OUTLINING' | 'WRITING' | 'GENERATING_IMAGE_PROMPTS' | 'GENERATING_IMAGES' | 'PROCESSING_MEDIA' | 'FINALIZING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'; sourceLanguage: string; targetLanguage: string; engine: string | null; credits: { estimated: number; reserved: number; consumed: number }; texts: TranslationTally; words: TranslationTally; entries: ({ outcome: 'left' | 'accepted' | 'repaired' | 'memory' | 'clean'; blockId: string | null; assetId: string | null; field: string; kind: 'title' | 'metaTitle' | 'metaDescription' | 'keyword' | 'linkTitle' | 'heading' | 'paragraph' | 'listItem' | 'quote' | 'attribution' | 'tableCell' | 'caption' | 'altText' | null; words: number; defects: ({ code: 'missing' | 'refused' | 'empty' | 'characters' | 'markup' | 'tags' | 'nesting' | 'length' | 'numbers' | 'units' | 'chatter' | 'echo' | 'language' | 'script' | 'limit' | 'glossary' | 'breaks' | 'spaces' | 'references'; message: string | null })[] })[]; omitted: number };

export type TranslationTally = { total: number; left: number; accepted: number; repaired: number; memory: number; clean: number; open: number };

export type GenerationReport = { jobId: string; articleId: string; status: 'QUEUED' | 'TRANSLATING' | 'VALIDATING' | 'RESEARCHING' | 'OUTLINING' | 'WRITING' | 'GENERATING_IMAGE_PROMPTS' | 'GENERATING_IMAGES' | 'PROCESSING_MEDIA' | 'FINALIZING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'; writer: string | null; credits: { estimated: number; reserved: number; consumed: number }; words: number; outline: { approved: boolean; repairs: string[] }; plan: { used: boolean; repairs: string[] } | null; sections: ({ kind: 'section' | 'faq'; heading: string | null; words: number; written: boolean; takenOver: boolean; leftOut: boolean; repairs: string[]; mended: Record<string, number> })[]; leftOut: string[]; research: { searches: number; failedSearches: number; pagesRead: number; pagesNotUsed: { url: string; reason: string }[]; notes: number; delivered: boolean; repairs: string[] } | null; facts: { searches: number; failedSearches: number; pagesRead: number; pagesNotUsed: { url: string; reason: string }[]; claims: { supported: number; contradicted: number; not_found: number }; compared: number; corrections: { written: boolean; leftOut: boolean; repairs: string[]; edits: ({ blockId: string; change: 'replaced' | 'deleted'; reason: string | null })[]; refused: number; unread: number } | null; repairs: string[] } | null; editing: { written: boolean; leftOut: boolean; repairs: string[]; edits: ({ blockId: string; change: 'replaced' | 'deleted'; reason: string | null })[]; refused: number; unread: number } | null; lead: { written: boolean; leftOut: boolean; repairs: string[]; words: number; named: boolean } | null; checks: { nearCopies: { blockId: string; ofBlockId: string; share: number }[]; sameHeadings: { blockId: string; asBlockId: string }[]; keyword: { inLead: boolean; inHeading: boolean; density: number; tooDense: boolean } | null; figures: { blockId: string; figure: string }[]; lengths: { id: string; planned: number; words: number }[] } | null; images: { requested: number; delivered: number; items: ({ number: number; role: 'hero' | 'inline'; status: 'pending' | 'drawn' | 'delivered' | 'failed'; assetId: string | null; reason: 'no_model' | 'own_cover' | 'image_limit' | 'no_prompt' | 'refused' | 'busy' | 'misconfigured' | 'unanswered' | 'not_an_image' | 'too_large' | 'storage' | null; answered: number; unanswered: number })[] }; calls: ({ part: number | null; image: number | null; kind: 'questions' | 'notes' | 'outline' | 'plan' | 'section' | 'faq' | 'edits' | 'claims' | 'verdicts' | 'corrections' | 'lead' | 'imagePrompts' | 'image'; model: string; outcome: 'answered' | 'unanswered' | null; startedAt: string; milliseconds: number | null; inputTokens: number | null; cachedTokens: number | null; outputTokens: number | null; reasoningTokens: number | null })[] };

export type ImageReport = { jobId: string; articleId: string; assetId: string; status: 'QUEUED' | 'TRANSLATING' | 'VALIDATING' | 'RESEARCHING' | 'OUTLINING' | 'WRITING' | 'GENERATING_IMAGE_PROMPTS' | 'GENERATING_IMAGES' | 'PROCESSING_MEDIA' | 'FINALIZING' | 'COMPLETED' | 'FAILED' | 'CANCELLED'; credits: { estimated: number; reserved: number; consumed: number }; quality: 'standard' | 'hd'; style: 'photorealistic' | 'editorial' | 'minimalist-vector' | '3d-render' | 'watercolor' | 'corporate-tech' | 'cinematic' | 'illustration' | null; prompt: string | null; reason: 'no_model' | 'own_cover' | 'image_limit' | 'no_prompt' | 'refused' | 'busy' | 'misconfigured' | 'unanswered' | 'not_an_image' | 'too_large' | 'storage' | null; calls: ({ model: string; outcome: 'answered' | 'unanswered' | null; startedAt: string; milliseconds: number | null })[] };

export type LedgerEntry = { id: string; kind: 'grant' | 'purchase' | 'settlement'; amount: number; paymentEventId: string | null; purpose: 'translation' | 'refresh' | 'generate' | 'outline' | 'image' | 'ai_operation' | null; runId: string | null; createdAt: string };

export type AuditEntry = { id: string; action: string; actor: { kind: 'api_key' | 'operator' | 'system'; id: string | null }; targetType: string; targetId: string | null; details: Record<string, unknown>; requestId: string | null; createdAt: string };

export type Workspace = { id: string; name: string; sharedMemory: boolean; createdAt: string };

export type ArticleCreatedEvent = { event: 'article.created'; data: { articleId: string; projectId: string; title: string } };

export type ArticleGenerationStartedEvent = { event: 'article.generation.started'; data: { articleId: string; jobId: string; estimatedCredits: number } };

export type ArticleGenerationCompletedEvent = { event: 'article.generation.completed'; data: { articleId: string; jobId: string; consumedCredits: number } };

export type ArticleGenerationFailedEvent = { event: 'article.generation.failed'; data: { articleId: string; jobId: string; error: string } };

export type ArticleApprovedEvent = { event: 'article.approved'; data: { articleId: string; reviewId: string; previousStatus: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED' } };

export type ArticleRejectedEvent = { event: 'article.rejected'; data: { articleId: string; reviewId: string; decision: 'rejected' | 'changes_requested' } };

export type ArticlePublishedEvent = { event: 'article.published'; data: { articleId: string; workspaceId: string; projectId: string; slug: string; status: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED' | 'DELETED'; primaryLanguage: string; translationGroupId: string; title: string } };

export type ArticleUpdatedEvent = { event: 'article.updated'; data: { articleId: string; workspaceId: string; projectId: string; slug: string; status: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED' | 'DELETED'; primaryLanguage: string; translationGroupId: string; title: string; changed: ('title' | 'content' | 'slug' | 'categories' | 'metaTitle' | 'metaDescription' | 'targetKeywords' | 'secondaryKeywords')[]; previousSlug?: string } };

export type ArticleUnpublishedEvent = { event: 'article.unpublished'; data: { articleId: string; workspaceId: string; projectId: string; slug: string; status: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED' | 'DELETED'; primaryLanguage: string; translationGroupId: string; title: string; previousStatus: 'PUBLISHED'; reason: 'status_changed' | 'deleted' } };

export type ImageGeneratedEvent = { event: 'image.generated'; data: { articleId: string; assetId: string; type: 'hero' | 'inline' } };

export type ImageRegeneratedEvent = { event: 'image.regenerated'; data: { articleId: string; assetId: string; type?: 'hero' } };

export type CreditsPurchasedEvent = { event: 'credits.purchased'; data: { creditAmount: number; paymentEventId: string } };

export type CreditsGrantedEvent = { event: 'credits.granted'; data: { creditAmount: number; paymentEventId: string } };

export type CreditsConsumedEvent = { event: 'credits.consumed'; data: { articleId: string; jobId: string; credits: number } };

/** What each call takes and what its success responses are. */
export interface Operations {
  /** List API keys */
  listApiKeys: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { apiKeys: ApiKey[] } };
  };
  /** Create an API key */
  createApiKey: {
    input: { params: { workspaceId: string }; body: { label: string; roleId: string; expiresAt?: string | null } };
    output: { status: 201; headers: Headers; body: CreatedApiKey };
  };
  /** Revoke an API key */
  revokeApiKey: {
    input: { params: { workspaceId: string; keyId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** Rotate an API key */
  rotateApiKey: {
    input: { params: { workspaceId: string; keyId: string } };
    output: { status: 201; headers: Headers; body: CreatedApiKey };
  };
  /** Who am I */
  whoami: {
    input: Record<never, never>;
    output: { status: 200; headers: Headers; body: { workspace: { id: string; name: string }; role: { id: string; name: string }; permissions: ('api_keys.create' | 'api_keys.read' | 'api_keys.revoke' | 'articles.create' | 'articles.delete' | 'articles.generate' | 'articles.publish' | 'articles.read' | 'articles.review' | 'articles.update' | 'audit.read' | 'categories.create' | 'categories.delete' | 'categories.read' | 'categories.update' | 'credits.read' | 'generation.configure' | 'integrations.create' | 'integrations.delete' | 'integrations.read' | 'projects.create' | 'projects.delete' | 'projects.read' | 'projects.update' | 'roles.create' | 'roles.delete' | 'roles.read' | 'roles.update' | 'translations.configure' | 'workspaces.delete')[]; apiKey: { id: string; prefix: string }; limits: { requestsPerMinute: { key: number | null; workspace: number | null } } } };
  };
  /** List roles */
  listRoles: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { roles: Role[] } };
  };
  /** Create a role */
  createRole: {
    input: { params: { workspaceId: string }; body: { name: string; permissions: ('api_keys.create' | 'api_keys.read' | 'api_keys.revoke' | 'articles.create' | 'articles.delete' | 'articles.generate' | 'articles.publish' | 'articles.read' | 'articles.review' | 'articles.update' | 'audit.read' | 'categories.create' | 'categories.delete' | 'categories.read' | 'categories.update' | 'credits.read' | 'generation.configure' | 'integrations.create' | 'integrations.delete' | 'integrations.read' | 'projects.create' | 'projects.delete' | 'projects.read' | 'projects.update' | 'roles.create' | 'roles.delete' | 'roles.read' | 'roles.update' | 'translations.configure' | 'workspaces.delete')[] } };
    output: { status: 201; headers: Headers; body: { role: Role } };
  };
  /** Change a role */
  updateRole: {
    input: { params: { workspaceId: string; roleId: string }; body: { name?: string | null; permissions?: ('api_keys.create' | 'api_keys.read' | 'api_keys.revoke' | 'articles.create' | 'articles.delete' | 'articles.generate' | 'articles.publish' | 'articles.read' | 'articles.review' | 'articles.update' | 'audit.read' | 'categories.create' | 'categories.delete' | 'categories.read' | 'categories.update' | 'credits.read' | 'generation.configure' | 'integrations.create' | 'integrations.delete' | 'integrations.read' | 'projects.create' | 'projects.delete' | 'projects.read' | 'projects.update' | 'roles.create' | 'roles.delete' | 'roles.read' | 'roles.update' | 'translations.configure' | 'workspaces.delete')[] | null } & ({ name: string } | { permissions: unknown[] }) };
    output: { status: 200; headers: Headers; body: { role: Role } };
  };
  /** Delete a role */
  deleteRole: {
    input: { params: { workspaceId: string; roleId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List webhook endpoints and recent deliveries */
  listWebhooks: {
    input: { params: { workspaceId: string }; query?: { deliveryStatus?: 'pending' | 'succeeded' | 'failed' } };
    output: { status: 200; headers: Headers; body: { endpoints: WebhookEndpoint[]; deliveries: WebhookDelivery[]; events: EventName[] } };
  };
  /** Register a webhook endpoint */
  registerWebhook: {
    input: { params: { workspaceId: string }; body: { url: string; events: EventName[]; description?: string | null } };
    output: { status: 201; headers: Headers; body: RegisteredWebhookEndpoint };
  };
  /** Delete a webhook endpoint */
  deleteWebhook: {
    input: { params: { workspaceId: string; endpointId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List the open deliveries of an endpoint */
  listOpenWebhookDeliveries: {
    input: { params: { workspaceId: string; endpointId: string }; query?: { status?: 'open' } };
    output: { status: 200; headers: Headers; body: { deliveries: OpenWebhookDelivery[] } };
  };
  /** Send a test event to an endpoint */
  testWebhook: {
    input: { params: { workspaceId: string; endpointId: string }; body?: { event?: EventName | null } };
    output: { status: 200; headers: Headers; body: WebhookPingResult };
  };
  /** Redeliver what failed, or all of a time */
  redeliverFailedWebhooks: {
    input: { params: { workspaceId: string; endpointId: string }; body: { since: string; until?: string | null; events?: EventName[] | null; status?: 'failed' | 'succeeded' | 'missed' | null; dryRun?: boolean | null; cursor?: string | null } };
    output: { status: 202; headers: Headers; body: { count: number; nextCursor: string | null } };
  };
  /** Rotate the signing secret of an endpoint */
  rotateWebhookSecret: {
    input: { params: { workspaceId: string; endpointId: string }; body: { overlapHours?: number | null } };
    output: { status: 201; headers: Headers; body: RotatedWebhookSecret };
  };
  /** End the overlap of a rotation */
  activateWebhookSecret: {
    input: { params: { workspaceId: string; endpointId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** Replace the settings of an endpoint */
  putWebhookSettings: {
    input: { params: { workspaceId: string; endpointId: string }; body: { description: string; rateLimit: number | null; headers?: Record<string, string> | null } };
    output: { status: 200; headers: Headers; body: { endpoint: WebhookEndpoint } };
  };
  /** Pause an endpoint */
  pauseWebhook: {
    input: { params: { workspaceId: string; endpointId: string } };
    output: { status: 200; headers: Headers; body: { endpoint: WebhookEndpoint } };
  };
  /** Resume an endpoint */
  resumeWebhook: {
    input: { params: { workspaceId: string; endpointId: string } };
    output: { status: 200; headers: Headers; body: { endpoint: WebhookEndpoint } };
  };
  /** Read the health of an endpoint */
  readWebhookHealth: {
    input: { params: { workspaceId: string; endpointId: string } };
    output: { status: 200; headers: Headers; body: { health: WebhookEndpointHealth } };
  };
  /** List webhook deliveries */
  listWebhookDeliveries: {
    input: { params: { workspaceId: string }; query?: { limit?: number; cursor?: string; endpointId?: string; eventType?: EventName; status?: 'pending' | 'succeeded' | 'failed'; since?: string; until?: string } };
    output: { status: 200; headers: Headers; body: { deliveries: ListedWebhookDelivery[]; nextCursor: string | null } };
  };
  /** Read a webhook delivery */
  getWebhookDelivery: {
    input: { params: { workspaceId: string; deliveryId: string } };
    output: { status: 200; headers: Headers; body: { delivery: WebhookDeliveryDetail } };
  };
  /** Redeliver one event */
  redeliverWebhook: {
    input: { params: { workspaceId: string; deliveryId: string } };
    output: { status: 202; headers: Headers; body: { delivery: WebhookDelivery } };
  };
  /** Cancel a webhook delivery */
  cancelWebhookDelivery: {
    input: { params: { workspaceId: string; deliveryId: string } };
    output: { status: 200; headers: Headers; body: { delivery: WebhookDelivery } };
  };
  /** Pull events */
  pullEvents: {
    input: { params: { workspaceId: string }; query?: { after?: string; types?: string; articleId?: string; limit?: number; wait?: number } };
    output: { status: 200; headers: Headers; body: { events: LoggedEvent[]; cursor: string; more: boolean } };
  };
  /** List projects */
  listProjects: {
    input: { params: { workspaceId: string }; query?: { limit?: number; cursor?: string; archived?: 'true' | 'false' } };
    output: { status: 200; headers: Headers; body: { projects: Project[]; nextCursor: string | null } };
  };
  /** Create a project */
  createProject: {
    input: { params: { workspaceId: string }; body: { name: string; languages: string[]; primaryLanguage: string; addressTemplate?: string | null } };
    output: { status: 201; headers: Headers; body: { project: Project } };
  };
  /** Read a project */
  readProject: {
    input: { params: { projectId: string } };
    output: { status: 200; headers: Headers; body: { project: Project } };
  };
  /** Change a project */
  updateProject: {
    input: { params: { projectId: string }; body: { name?: string | null; languages?: string[] | null; primaryLanguage?: string | null; addressTemplate?: string | null; imageSettings?: { hero?: { style?: 'photorealistic' | 'editorial' | 'minimalist-vector' | '3d-render' | 'watercolor' | 'corporate-tech' | 'cinematic' | 'illustration' | null }; inline?: { style?: 'photorealistic' | 'editorial' | 'minimalist-vector' | '3d-render' | 'watercolor' | 'corporate-tech' | 'cinematic' | 'illustration' | null } }; defaultBrandVoiceId?: string | null; citations?: 'links' | 'list' | 'none' | null; archived?: boolean | null } };
    output: { status: 200; headers: Headers; body: { project: Project } };
  };
  /** Delete a project */
  deleteProject: {
    input: { params: { projectId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List articles */
  listArticles: {
    input: { params: { workspaceId: string }; query?: { limit?: number; cursor?: string; projectId?: string; status?: 'DRAFT' | 'QUEUED' | 'PROCESSING' | 'NEEDS_REVIEW' | 'CHANGES_REQUESTED' | 'APPROVED' | 'PUBLISHED'; language?: string; categoryId?: string } };
    output: { status: 200; headers: Headers; body: { articles: ArticleSummary[]; nextCursor: string | null } };
  };
  /** Find an article by its slug */
  findArticleBySlug: {
    input: { params: { projectId: string }; query: { language: string; slug: string } };
    output: { status: 200; headers: Headers; body: { article: Article; redirect: boolean } };
  };
  /** Read an article */
  readArticle: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** Save an article */
  updateArticle: {
    input: { params: { articleId: string }; headers?: { 'If-Match'?: string }; body: { title?: string | null; slug?: string | null; documentJson?: { version: 1; blocks: ({ id: string; type: 'heading'; level: number; text: string; format?: 'markdown' | null } | { id: string; type: 'paragraph'; text: string; links?: { text: string; articleId: string }[] | null; format?: 'markdown' | null } | { id: string; type: 'list'; ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: null[] | null } | null)[] | null } | null)[] | null } | null)[] | null; format?: 'markdown' | null } | { id: string; type: 'quote'; text: string; attribution?: string | null; links?: { text: string; articleId: string }[] | null; format?: 'markdown' | null } | { id: string; type: 'image'; assetId: string; altText: string; caption?: string | null } | { id: string; type: 'code'; text: string; language?: string | null } | { id: string; type: 'table'; header: string[]; rows: string[][]; align?: ('left' | 'center' | 'right' | null)[] | null; format?: 'markdown' | null } | { id: string; type: 'divider' })[] }; metaTitle?: string | null; metaDescription?: string | null; targetKeywords?: string[] | null; secondaryKeywords?: string[] | null } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** Delete an article */
  deleteArticle: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List the language versions of an article */
  listArticleVersions: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { versions: ArticleSummary[] } };
  };
  /** Create an article */
  createArticle: {
    input: { params: { projectId: string }; body: { title: string; primaryLanguage?: string | null; slug?: string | null; documentJson?: { version: 1; blocks: ({ id: string; type: 'heading'; level: number; text: string; format?: 'markdown' | null } | { id: string; type: 'paragraph'; text: string; links?: { text: string; articleId: string }[] | null; format?: 'markdown' | null } | { id: string; type: 'list'; ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: ({ ordered: boolean; items: string[]; children?: null[] | null } | null)[] | null } | null)[] | null } | null)[] | null; format?: 'markdown' | null } | { id: string; type: 'quote'; text: string; attribution?: string | null; links?: { text: string; articleId: string }[] | null; format?: 'markdown' | null } | { id: string; type: 'image'; assetId: string; altText: string; caption?: string | null } | { id: string; type: 'code'; text: string; language?: string | null } | { id: string; type: 'table'; header: string[]; rows: string[][]; align?: ('left' | 'center' | 'right' | null)[] | null; format?: 'markdown' | null } | { id: string; type: 'divider' })[] }; metaTitle?: string | null; metaDescription?: string | null; targetKeywords?: string[] | null; secondaryKeywords?: string[] | null } };
    output: { status: 201; headers: Headers; body: { article: Article } };
  };
  /** Duplicate an article */
  duplicateArticle: {
    input: { params: { articleId: string }; body?: { title?: string | null } };
    output: { status: 201; headers: Headers; body: { article: Article } };
  };
  /** Submit an article for review */
  submitArticle: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** Publish an article */
  publishArticle: {
    input: { params: { articleId: string }; body?: { publishedUrl?: string | null } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** Unpublish an article */
  unpublishArticle: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** List the revisions of an article */
  listRevisions: {
    input: { params: { articleId: string }; query?: { limit?: number; cursor?: string } };
    output: { status: 200; headers: Headers; body: { revisions: RevisionSummary[]; nextCursor: string | null } };
  };
  /** Read a revision */
  readRevision: {
    input: { params: { articleId: string; revisionId: string } };
    output: { status: 200; headers: Headers; body: { revision: Revision } };
  };
  /** Restore a revision */
  restoreRevision: {
    input: { params: { articleId: string; revisionId: string }; headers?: { 'If-Match'?: string } };
    output: { status: 200; headers: Headers; body: { article: Article; missingImages: string[] } };
  };
  /** List the reviews of an article */
  listReviews: {
    input: { params: { articleId: string }; query?: { limit?: number; cursor?: string } };
    output: { status: 200; headers: Headers; body: { reviews: Review[]; nextCursor: string | null } };
  };
  /** Review an article */
  reviewArticle: {
    input: { params: { articleId: string }; headers?: { 'If-Match'?: string }; body: { decision: 'approved' | 'rejected' | 'changes_requested'; comment?: string | null } };
    output: { status: 201; headers: Headers; body: { review: Review; article: Article } };
  };
  /** List the images of an article */
  listAssets: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { assets: Asset[] } };
  };
  /** Upload an image for the body */
  uploadAsset: {
    input: { params: { articleId: string }; query?: { fileName?: string; altText?: string }; body: Uint8Array; contentType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif' | 'image/svg+xml' };
    output: { status: 201; headers: Headers; body: { asset: Asset } };
  };
  /** Read an image */
  readAsset: {
    input: { params: { articleId: string; assetId: string } };
    output: { status: 200; headers: Headers; body: { asset: Asset } };
  };
  /** Change an image's alternative text */
  updateAsset: {
    input: { params: { articleId: string; assetId: string }; body: { altText: string } };
    output: { status: 200; headers: Headers; body: { asset: Asset } };
  };
  /** Delete an image */
  deleteAsset: {
    input: { params: { articleId: string; assetId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** Upload the cover of an article */
  uploadHero: {
    input: { params: { articleId: string }; query?: { fileName?: string; altText?: string }; body: Uint8Array; contentType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/avif' | 'image/svg+xml' };
    output: { status: 201; headers: Headers; body: { asset: Asset } };
  };
  /** Fetch the cover of an article from a URL */
  fetchHero: {
    input: { params: { articleId: string }; body: { url: string; altText?: string | null } };
    output: { status: 201; headers: Headers; body: { asset: Asset } };
  };
  /** Estimate the regeneration of an image */
  estimateRegeneration: {
    input: { params: { articleId: string; assetId: string }; query?: { quality?: 'standard' | 'hd' } };
    output: { status: 200; headers: Headers; body: { estimate: RegenerationEstimate; wallet: Wallet; sufficient: boolean } };
  };
  /** Regenerate an image */
  regenerateImage: {
    input: { params: { articleId: string; assetId: string }; headers?: { 'Idempotency-Key'?: string }; body?: { prompt?: string | null; quality?: 'standard' | 'hd' | null; idempotencyKey?: string | null } };
    output: { status: 200; headers: Headers; body: { article: Article; job: Job; estimate: null; reused: true } } | { status: 202; headers: Headers; body: { article: Article; job: Job; estimate: RegenerationEstimate; reused: false } };
  };
  /** List categories */
  listCategories: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { categories: ListedCategory[] } };
  };
  /** Create a category */
  createCategory: {
    input: { params: { workspaceId: string }; body: { primaryLanguage: string; translations: { language: string; name: string }[] } };
    output: { status: 201; headers: Headers; body: { category: Category } };
  };
  /** Change a category */
  updateCategory: {
    input: { params: { workspaceId: string; categoryId: string }; body: { primaryLanguage?: string | null; translations?: { language: string; name: string }[] | null; removeLanguages?: string[] | null } & ({ primaryLanguage: string } | { translations: unknown[] } | { removeLanguages: unknown[] }) };
    output: { status: 200; headers: Headers; body: { category: Category } };
  };
  /** Delete a category */
  deleteCategory: {
    input: { params: { workspaceId: string; categoryId: string } };
    output: { status: 200; headers: Headers; body: { ok: true; articleCount: number } };
  };
  /** Set an article's categories */
  assignCategories: {
    input: { params: { articleId: string }; body: { categoryIds: string[] } };
    output: { status: 200; headers: Headers; body: { categories: ReducedCategory[] } };
  };
  /** Suggest categories for an article */
  suggestArticleCategories: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { existing: { category: { id: string; name: string }; reason: string }[]; proposed: { name: string; reason: string }[]; credits: number } };
  };
  /** Suggest new categories for a project */
  suggestProjectCategories: {
    input: { params: { projectId: string } };
    output: { status: 200; headers: Headers; body: { categories: { name: string; reason: string }[]; credits: number } };
  };
  /** Suggest a category's name in other languages */
  suggestCategoryNames: {
    input: { params: { workspaceId: string; categoryId: string }; body: { languages: string[] } };
    output: { status: 200; headers: Headers; body: { names: { language: string; name: string }[]; credits: number } };
  };
  /** List the translations of an article */
  listTranslations: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { translations: ({ article: ArticleSummary; job: Job | null; sourceArticleId: string | null; tracking: 'managed' | 'unmanaged' | 'source_gone'; states: TranslationStates | null })[] } };
  };
  /** Translate an article */
  createTranslation: {
    input: { params: { articleId: string }; headers?: { 'Idempotency-Key'?: string }; body: { language: string; idempotencyKey?: string | null } };
    output: { status: 200; headers: Headers; body: { article: Article; job: Job; estimate: null; reused: true } } | { status: 202; headers: Headers; body: { article: Article; job: Job; estimate: Estimate; reused: false } };
  };
  /** Estimate a translation */
  estimateTranslation: {
    input: { params: { articleId: string }; query: { language: string } };
    output: { status: 200; headers: Headers; body: { estimate: Estimate; wallet: Wallet; sufficient: boolean } };
  };
  /** Attach a translation of your own */
  attachTranslation: {
    input: { params: { articleId: string }; body: { articleId: string; dryRun?: boolean | null } };
    output: { status: 200; headers: Headers; body: { pairs: UnitPair[]; onlyInSource: string[]; onlyInVersion: string[] } };
  };
  /** Detach a version */
  detachTranslation: {
    input: { params: { articleId: string }; headers?: { 'If-Match'?: string } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** List the translations of a project */
  listProjectTranslations: {
    input: { params: { projectId: string }; query?: { limit?: number; cursor?: string; state?: 'current' | 'stale' | 'edited' | 'editedAndStale' | 'new' | 'gone' | 'unknown'; language?: string } };
    output: { status: 200; headers: Headers; body: { translations: ({ article: ArticleSummary; job: Job | null; sourceArticleId: string | null; tracking: 'managed' | 'unmanaged' | 'source_gone'; states: TranslationStates | null; state: 'known' | 'unknown' })[]; unknown: number; nextCursor: string | null } };
  };
  /** Read the style sheet of a version */
  readStyleSheet: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { styleSheet: StyleSheet } };
  };
  /** Change the style sheet of a version */
  updateStyleSheet: {
    input: { params: { articleId: string }; headers: { 'If-Match': string }; body: { address?: 'formal' | 'informal' | 'impersonal' | 'du' | 'ihr' | 'Sie' | 'tu' | 'vous' | 'tú' | 'vos' | 'vosotros' | 'usted' | 'ustedes' | 'Lei' | 'voi' | 'você' | 'o senhor' | 'je' | 'u' | 'ty' | 'Pan/Pani' | 'vy' | 'ты' | 'вы' | 'です・ます' | 'だ・である' | '합니다' | '해요' | null; gender?: 'neutral' | 'paired' | 'masculine' | 'feminine' | null; quotes?: '„…“' | '„…”' | '“…”' | '”…”' | '‘…’' | '"…"' | '«…»' | '« … »' | '»…«' | '「…」' | '『…』' | null; numbers?: '1.234,5' | '1 234,5' | '1,234.5' | '1’234.5' | '1’234,5' | '12,34,567.8' | null; dates?: '31.12.2026' | '31/12/2026' | '31-12-2026' | '12/31/2026' | '2026-12-31' | '2026/12/31' | '2026. 12. 31.' | '2026年12月31日' | null; titleCase?: 'sentence' | 'title' | null; variant?: 'de-DE' | 'de-AT' | 'de-CH' | 'en-US' | 'en-GB' | 'es-ES' | 'es-419' | 'es-MX' | 'fr-FR' | 'fr-CA' | 'fr-CH' | 'nl-NL' | 'nl-BE' | 'pt-BR' | 'pt-PT' | 'sr-Cyrl' | 'sr-Latn' | 'zh-Hans' | 'zh-Hant' | null; terms?: { source: string; target: string }[] | null } };
    output: { status: 200; headers: Headers; body: { styleSheet: StyleSheet } };
  };
  /** Estimate a refresh */
  estimateRefresh: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { estimate: RefreshEstimate; wallet: Wallet; sufficient: boolean } };
  };
  /** Estimate a refresh of some units */
  estimateRefreshOf: {
    input: { params: { articleId: string }; body: { apply?: 'untouched' | 'none' | null; units?: string[] | null } };
    output: { status: 200; headers: Headers; body: { estimate: RefreshEstimate; wallet: Wallet; sufficient: boolean } };
  };
  /** Refresh a translation */
  refreshTranslation: {
    input: { params: { articleId: string }; headers?: { 'Idempotency-Key'?: string }; body?: { apply?: 'untouched' | 'none' | null; units?: string[] | null; idempotencyKey?: string | null } };
    output: { status: 200; headers: Headers; body: { job: Job; estimate: null; reused: true } } | { status: 202; headers: Headers; body: { job: Job; estimate: RefreshEstimate; reused: false } };
  };
  /** Read the state of each unit of a version */
  readTranslationState: {
    input: { params: { articleId: string }; query?: { limit?: number; cursor?: string } };
    output: { status: 200; headers: Headers; body: { sourceArticleId: string | null; tracking: 'managed' | 'source_gone' | 'unmanaged'; units: UnitState[]; nextCursor: string | null } };
  };
  /** List the proposals of a version */
  listProposals: {
    input: { params: { articleId: string }; query?: { limit?: number; cursor?: string } };
    output: { status: 200; headers: Headers; body: { proposals: Proposal[]; nextCursor: string | null } };
  };
  /** Accept and reject proposals */
  decideProposals: {
    input: { params: { articleId: string }; headers: { 'If-Match': string }; body: { accept?: 'all' | string[] | null; reject?: 'all' | string[] | null } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** Mark units of a version as up to date */
  markCurrent: {
    input: { params: { articleId: string }; headers: { 'If-Match': string }; body: { units?: 'all' | string[] | null; pairs?: { source: string; version: string }[] | null } };
    output: { status: 200; headers: Headers; body: { marked: number } };
  };
  /** Accept a proposal */
  acceptProposal: {
    input: { params: { articleId: string; proposalId: string } };
    output: { status: 200; headers: Headers; body: { article: Article } };
  };
  /** Reject a proposal */
  rejectProposal: {
    input: { params: { articleId: string; proposalId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List the memory of translations */
  listTranslationMemory: {
    input: { params: { workspaceId: string }; query?: { limit?: number; cursor?: string; language?: string; q?: string } };
    output: { status: 200; headers: Headers; body: { entries: TranslationMemoryEntry[]; nextCursor: string | null } };
  };
  /** Delete an entry of the memory */
  deleteTranslationMemoryEntry: {
    input: { params: { workspaceId: string; entryId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List brand voices */
  listBrandVoices: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { brandVoices: BrandVoiceSummary[] } };
  };
  /** Create a brand voice */
  createBrandVoice: {
    input: { params: { workspaceId: string }; body: { name: string; instructions: string; isDefault?: boolean | null } };
    output: { status: 201; headers: Headers; body: { brandVoice: BrandVoice } };
  };
  /** Read a brand voice */
  readBrandVoice: {
    input: { params: { workspaceId: string; brandVoiceId: string } };
    output: { status: 200; headers: Headers; body: { brandVoice: BrandVoice } };
  };
  /** Change a brand voice */
  updateBrandVoice: {
    input: { params: { workspaceId: string; brandVoiceId: string }; body: { name?: string | null; instructions?: string | null; isDefault?: boolean | null } };
    output: { status: 200; headers: Headers; body: { brandVoice: BrandVoice } };
  };
  /** Delete a brand voice */
  deleteBrandVoice: {
    input: { params: { workspaceId: string; brandVoiceId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List content templates */
  listContentTemplates: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { contentTemplates: ContentTemplateSummary[] } };
  };
  /** Create a content template */
  createContentTemplate: {
    input: { params: { workspaceId: string }; body: { name: string; text: string } };
    output: { status: 201; headers: Headers; body: { contentTemplate: ContentTemplate } };
  };
  /** Read a content template */
  readContentTemplate: {
    input: { params: { workspaceId: string; contentTemplateId: string } };
    output: { status: 200; headers: Headers; body: { contentTemplate: ContentTemplate } };
  };
  /** Change a content template */
  updateContentTemplate: {
    input: { params: { workspaceId: string; contentTemplateId: string }; body: { name?: string | null; text?: string | null } };
    output: { status: 200; headers: Headers; body: { contentTemplate: ContentTemplate } };
  };
  /** Delete a content template */
  deleteContentTemplate: {
    input: { params: { workspaceId: string; contentTemplateId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List the terms of the glossary */
  listGlossaryTerms: {
    input: { params: { workspaceId: string }; query?: { limit?: number; cursor?: string; sourceLanguage?: string; targetLanguage?: string } };
    output: { status: 200; headers: Headers; body: { terms: GlossaryTerm[]; nextCursor: string | null } };
  };
  /** Add a term to the glossary */
  createGlossaryTerm: {
    input: { params: { workspaceId: string }; body: { sourceLanguage: string; targetLanguage?: string | null; source: string; target?: string | null; caseSensitive?: boolean | null } };
    output: { status: 201; headers: Headers; body: { term: GlossaryTerm } };
  };
  /** Import terms into the glossary */
  importGlossaryTerms: {
    input: { params: { workspaceId: string }; body: { terms: ({ sourceLanguage: string; targetLanguage?: string | null; source: string; target?: string | null; caseSensitive?: boolean | null })[] } };
    output: { status: 200; headers: Headers; body: { created: number; updated: number; unchanged: number } };
  };
  /** Change a term of the glossary */
  updateGlossaryTerm: {
    input: { params: { workspaceId: string; termId: string }; body: { source?: string | null; target?: string | null; caseSensitive?: boolean | null } & ({ source: string } | unknown | { caseSensitive: boolean }) };
    output: { status: 200; headers: Headers; body: { term: GlossaryTerm } };
  };
  /** Delete a term of the glossary */
  deleteGlossaryTerm: {
    input: { params: { workspaceId: string; termId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** List the styles of translations */
  listTranslationStyles: {
    input: { params: { projectId: string } };
    output: { status: 200; headers: Headers; body: { styles: TranslationStyle[] } };
  };
  /** Set the style of translations into a language */
  putTranslationStyle: {
    input: { params: { projectId: string; language: string }; body: { formality?: 'formal' | 'informal' | null; instructions?: string | null } & ({ formality: string } | { instructions: string }) };
    output: { status: 200; headers: Headers; body: { style: TranslationStyle } };
  };
  /** Delete the style of translations into a language */
  deleteTranslationStyle: {
    input: { params: { projectId: string; language: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
  /** Estimate a generation */
  estimateGeneration: {
    input: { params: { projectId: string }; body: { generationConfig: GenerationConfig } };
    output: { status: 200; headers: Headers; body: { estimate: GenerationEstimate; whole: GenerationEstimate; wallet: Wallet; sufficient: boolean } };
  };
  /** Generate an article */
  generateArticle: {
    input: { params: { projectId: string }; headers?: { 'Idempotency-Key'?: string }; body: { generationConfig: GenerationConfig; title?: string | null; language?: string | null; idempotencyKey?: string | null } };
    output: { status: 200; headers: Headers; body: { article: Article; job: Job; estimate: null; reused: true } } | { status: 202; headers: Headers; body: { article: Article; job: Job; estimate: GenerationEstimate; reused: false; warnings?: GenerationWarning[] } };
  };
  /** Generate a draft */
  generateDraft: {
    input: { params: { articleId: string }; headers?: { 'Idempotency-Key'?: string }; body?: { generationConfig?: GenerationConfig | null; replaceOutline?: boolean | null; fresh?: boolean | null; idempotencyKey?: string | null } };
    output: { status: 200; headers: Headers; body: { article: Article; job: Job; estimate: null; reused: true } } | { status: 202; headers: Headers; body: { article: Article; job: Job; estimate: GenerationEstimate; reused: false; warnings?: GenerationWarning[] } };
  };
  /** Read the outline of an article */
  readOutline: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { outline: Outline; edited: boolean } };
  };
  /** Change the outline of an article */
  saveOutline: {
    input: { params: { articleId: string }; headers?: { 'If-Match'?: string }; body: { outline: OutlineInput } };
    output: { status: 200; headers: Headers; body: { outline: Outline; edited: boolean } };
  };
  /** Approve the outline of an article */
  approveOutline: {
    input: { params: { articleId: string }; headers: { 'Idempotency-Key'?: string; 'If-Match': string }; body?: { fresh?: boolean | null; idempotencyKey?: string | null } };
    output: { status: 200; headers: Headers; body: { article: Article; job: Job; estimate: null; reused: true } } | { status: 202; headers: Headers; body: { article: Article; job: Job; estimate: GenerationEstimate; reused: false; warnings?: GenerationWarning[] } };
  };
  /** List the sources of an article */
  listSources: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { sources: Source[] } };
  };
  /** List the checked claims of an article */
  listClaims: {
    input: { params: { articleId: string } };
    output: { status: 200; headers: Headers; body: { claims: Claim[] } };
  };
  /** List the jobs of an article */
  listArticleJobs: {
    input: { params: { articleId: string }; query?: { limit?: number; cursor?: string } };
    output: { status: 200; headers: Headers; body: { jobs: Job[]; nextCursor: string | null } };
  };
  /** Read a job */
  readJob: {
    input: { params: { jobId: string }; query?: { wait?: number }; headers?: { 'If-None-Match'?: string } };
    output: { status: 200; headers: Headers; body: { job: Job } };
  };
  /** Cancel a job */
  cancelJob: {
    input: { params: { jobId: string } };
    output: { status: 202; headers: Headers; body: { job: Job } };
  };
  /** Read the report of a job */
  readJobReport: {
    input: { params: { jobId: string } };
    output: { status: 200; headers: Headers; body: { report: TranslationReport | GenerationReport | ImageReport } };
  };
  /** Read the credit wallet */
  readWallet: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { wallet: Wallet } };
  };
  /** Read the credit ledger */
  listLedger: {
    input: { params: { workspaceId: string }; query?: { limit?: number; cursor?: string } };
    output: { status: 200; headers: Headers; body: { entries: LedgerEntry[]; nextCursor: string | null } };
  };
  /** Read the audit log */
  listAuditEntries: {
    input: { params: { workspaceId: string }; query?: { limit?: number; cursor?: string } };
    output: { status: 200; headers: Headers; body: { entries: AuditEntry[]; nextCursor: string | null } };
  };
  /** Get the workspace */
  getWorkspace: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { workspace: Workspace } };
  };
  /** Change a setting of the workspace */
  updateWorkspace: {
    input: { params: { workspaceId: string }; body: { sharedMemory: boolean } };
    output: { status: 200; headers: Headers; body: { workspace: Workspace } };
  };
  /** Delete the workspace */
  deleteWorkspace: {
    input: { params: { workspaceId: string } };
    output: { status: 200; headers: Headers; body: { ok: true } };
  };
}

/** The body of a webhook delivery, by the name of its event. */
export interface WebhookEvents {
  'article.created': ArticleCreatedEvent;
  'article.generation.started': ArticleGenerationStartedEvent;
  'article.generation.completed': ArticleGenerationCompletedEvent;
  'article.generation.failed': ArticleGenerationFailedEvent;
  'article.approved': ArticleApprovedEvent;
  'article.rejected': ArticleRejectedEvent;
  'article.published': ArticlePublishedEvent;
  'article.updated': ArticleUpdatedEvent;
  'article.unpublished': ArticleUnpublishedEvent;
  'image.generated': ImageGeneratedEvent;
  'image.regenerated': ImageRegeneratedEvent;
  'credits.purchased': CreditsPurchasedEvent;
  'credits.granted': CreditsGrantedEvent;
  'credits.consumed': CreditsConsumedEvent;
}

/** Method and path of each call. */
export const OPERATIONS = {
  listApiKeys: ['GET', '/api/workspaces/{workspaceId}/api-keys'],
  createApiKey: ['POST', '/api/workspaces/{workspaceId}/api-keys'],
  revokeApiKey: ['DELETE', '/api/workspaces/{workspaceId}/api-keys/{keyId}'],
  rotateApiKey: ['POST', '/api/workspaces/{workspaceId}/api-keys/{keyId}/rotate'],
  whoami: ['GET', '/api/whoami'],
  listRoles: ['GET', '/api/workspaces/{workspaceId}/roles'],
  createRole: ['POST', '/api/workspaces/{workspaceId}/roles'],
  updateRole: ['PATCH', '/api/workspaces/{workspaceId}/roles/{roleId}'],
  deleteRole: ['DELETE', '/api/workspaces/{workspaceId}/roles/{roleId}'],
  listWebhooks: ['GET', '/api/workspaces/{workspaceId}/webhooks'],
  registerWebhook: ['POST', '/api/workspaces/{workspaceId}/webhooks'],
  deleteWebhook: ['DELETE', '/api/workspaces/{workspaceId}/webhooks/{endpointId}'],
  listOpenWebhookDeliveries: ['GET', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/deliveries'],
  testWebhook: ['POST', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/test'],
  redeliverFailedWebhooks: ['POST', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/redeliver'],
  rotateWebhookSecret: ['POST', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/rotate-secret'],
  activateWebhookSecret: ['POST', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/activate-secret'],
  putWebhookSettings: ['PUT', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/settings'],
  pauseWebhook: ['POST', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/pause'],
  resumeWebhook: ['POST', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/resume'],
  readWebhookHealth: ['GET', '/api/workspaces/{workspaceId}/webhooks/{endpointId}/health'],
  listWebhookDeliveries: ['GET', '/api/workspaces/{workspaceId}/webhooks/deliveries'],
  getWebhookDelivery: ['GET', '/api/workspaces/{workspaceId}/webhooks/deliveries/{deliveryId}'],
  redeliverWebhook: ['POST', '/api/workspaces/{workspaceId}/webhooks/deliveries/{deliveryId}/redeliver'],
  cancelWebhookDelivery: ['POST', '/api/workspaces/{workspaceId}/webhooks/deliveries/{deliveryId}/cancel'],
  pullEvents: ['GET', '/api/workspaces/{workspaceId}/events'],
  listProjects: ['GET', '/api/workspaces/{workspaceId}/projects'],
  createProject: ['POST', '/api/workspaces/{workspaceId}/projects'],
  readProject: ['GET', '/api/projects/{projectId}'],
  updateProject: ['PATCH', '/api/projects/{projectId}'],
  deleteProject: ['DELETE', '/api/projects/{projectId}'],
  listArticles: ['GET', '/api/workspaces/{workspaceId}/articles'],
  findArticleBySlug: ['GET', '/api/projects/{projectId}/articles/by-slug'],
  readArticle: ['GET', '/api/articles/{articleId}'],
  updateArticle: ['PATCH', '/api/articles/{articleId}'],
  deleteArticle: ['DELETE', '/api/articles/{articleId}'],
  listArticleVersions: ['GET', '/api/articles/{articleId}/versions'],
  createArticle: ['POST', '/api/projects/{projectId}/articles'],
  duplicateArticle: ['POST', '/api/articles/{articleId}/duplicate'],
  submitArticle: ['POST', '/api/articles/{articleId}/submit'],
  publishArticle: ['POST', '/api/articles/{articleId}/publish'],
  unpublishArticle: ['POST', '/api/articles/{articleId}/unpublish'],
  listRevisions: ['GET', '/api/articles/{articleId}/revisions'],
  readRevision: ['GET', '/api/articles/{articleId}/revisions/{revisionId}'],
  restoreRevision: ['POST', '/api/articles/{articleId}/revisions/{revisionId}/restore'],
  listReviews: ['GET', '/api/articles/{articleId}/reviews'],
  reviewArticle: ['POST', '/api/articles/{articleId}/reviews'],
  listAssets: ['GET', '/api/articles/{articleId}/assets'],
  uploadAsset: ['POST', '/api/articles/{articleId}/assets'],
  readAsset: ['GET', '/api/articles/{articleId}/assets/{assetId}'],
  updateAsset: ['PATCH', '/api/articles/{articleId}/assets/{assetId}'],
  deleteAsset: ['DELETE', '/api/articles/{articleId}/assets/{assetId}'],
  uploadHero: ['PUT', '/api/articles/{articleId}/hero'],
  fetchHero: ['POST', '/api/articles/{articleId}/hero/from-url'],
  estimateRegeneration: ['GET', '/api/articles/{articleId}/assets/{assetId}/regenerate/estimate'],
  regenerateImage: ['POST', '/api/articles/{articleId}/assets/{assetId}/regenerate'],
  listCategories: ['GET', '/api/workspaces/{workspaceId}/categories'],
  createCategory: ['POST', '/api/workspaces/{workspaceId}/categories'],
  updateCategory: ['PATCH', '/api/workspaces/{workspaceId}/categories/{categoryId}'],
  deleteCategory: ['DELETE', '/api/workspaces/{workspaceId}/categories/{categoryId}'],
  assignCategories: ['PUT', '/api/articles/{articleId}/categories'],
  suggestArticleCategories: ['POST', '/api/articles/{articleId}/categories/suggest'],
  suggestProjectCategories: ['POST', '/api/projects/{projectId}/categories/suggest'],
  suggestCategoryNames: ['POST', '/api/workspaces/{workspaceId}/categories/{categoryId}/translate'],
  listTranslations: ['GET', '/api/articles/{articleId}/translations'],
  createTranslation: ['POST', '/api/articles/{articleId}/translations'],
  estimateTranslation: ['GET', '/api/articles/{articleId}/translations/estimate'],
  attachTranslation: ['POST', '/api/articles/{articleId}/translations/attach'],
  detachTranslation: ['POST', '/api/articles/{articleId}/translations/detach'],
  listProjectTranslations: ['GET', '/api/projects/{projectId}/translations'],
  readStyleSheet: ['GET', '/api/articles/{articleId}/style-sheet'],
  updateStyleSheet: ['PATCH', '/api/articles/{articleId}/style-sheet'],
  estimateRefresh: ['GET', '/api/articles/{articleId}/refresh/estimate'],
  estimateRefreshOf: ['POST', '/api/articles/{articleId}/refresh/estimate'],
  refreshTranslation: ['POST', '/api/articles/{articleId}/refresh'],
  readTranslationState: ['GET', '/api/articles/{articleId}/translation-state'],
  listProposals: ['GET', '/api/articles/{articleId}/proposals'],
  decideProposals: ['POST', '/api/articles/{articleId}/proposals/decide'],
  markCurrent: ['POST', '/api/articles/{articleId}/mark-current'],
  acceptProposal: ['POST', '/api/articles/{articleId}/proposals/{proposalId}/accept'],
  rejectProposal: ['POST', '/api/articles/{articleId}/proposals/{proposalId}/reject'],
  listTranslationMemory: ['GET', '/api/workspaces/{workspaceId}/translation-memory'],
  deleteTranslationMemoryEntry: ['DELETE', '/api/workspaces/{workspaceId}/translation-memory/{entryId}'],
  listBrandVoices: ['GET', '/api/workspaces/{workspaceId}/brand-voices'],
  createBrandVoice: ['POST', '/api/workspaces/{workspaceId}/brand-voices'],
  readBrandVoice: ['GET', '/api/workspaces/{workspaceId}/brand-voices/{brandVoiceId}'],
  updateBrandVoice: ['PATCH', '/api/workspaces/{workspaceId}/brand-voices/{brandVoiceId}'],
  deleteBrandVoice: ['DELETE', '/api/workspaces/{workspaceId}/brand-voices/{brandVoiceId}'],
  listContentTemplates: ['GET', '/api/workspaces/{workspaceId}/content-templates'],
  createContentTemplate: ['POST', '/api/workspaces/{workspaceId}/content-templates'],
  readContentTemplate: ['GET', '/api/workspaces/{workspaceId}/content-templates/{contentTemplateId}'],
  updateContentTemplate: ['PATCH', '/api/workspaces/{workspaceId}/content-templates/{contentTemplateId}'],
  deleteContentTemplate: ['DELETE', '/api/workspaces/{workspaceId}/content-templates/{contentTemplateId}'],
  listGlossaryTerms: ['GET', '/api/workspaces/{workspaceId}/glossary'],
  createGlossaryTerm: ['POST', '/api/workspaces/{workspaceId}/glossary'],
  importGlossaryTerms: ['POST', '/api/workspaces/{workspaceId}/glossary/import'],
  updateGlossaryTerm: ['PATCH', '/api/workspaces/{workspaceId}/glossary/{termId}'],
  deleteGlossaryTerm: ['DELETE', '/api/workspaces/{workspaceId}/glossary/{termId}'],
  listTranslationStyles: ['GET', '/api/projects/{projectId}/translation-styles'],
  putTranslationStyle: ['PUT', '/api/projects/{projectId}/translation-styles/{language}'],
  deleteTranslationStyle: ['DELETE', '/api/projects/{projectId}/translation-styles/{language}'],
  estimateGeneration: ['POST', '/api/projects/{projectId}/generation/estimate'],
  generateArticle: ['POST', '/api/projects/{projectId}/articles/generate'],
  generateDraft: ['POST', '/api/articles/{articleId}/generate'],
  readOutline: ['GET', '/api/articles/{articleId}/outline'],
  saveOutline: ['PUT', '/api/articles/{articleId}/outline'],
  approveOutline: ['POST', '/api/articles/{articleId}/outline/approve'],
  listSources: ['GET', '/api/articles/{articleId}/sources'],
  listClaims: ['GET', '/api/articles/{articleId}/claims'],
  listArticleJobs: ['GET', '/api/articles/{articleId}/jobs'],
  readJob: ['GET', '/api/jobs/{jobId}'],
  cancelJob: ['POST', '/api/jobs/{jobId}/cancel'],
  readJobReport: ['GET', '/api/jobs/{jobId}/report'],
  readWallet: ['GET', '/api/workspaces/{workspaceId}/wallet'],
  listLedger: ['GET', '/api/workspaces/{workspaceId}/ledger'],
  listAuditEntries: ['GET', '/api/workspaces/{workspaceId}/audit'],
  getWorkspace: ['GET', '/api/workspaces/{workspaceId}'],
  updateWorkspace: ['PATCH', '/api/workspaces/{workspaceId}'],
  deleteWorkspace: ['DELETE', '/api/workspaces/{workspaceId}'],
} as const satisfies Record<keyof Operations, readonly [method: string, path: string]>;
