export { aiOperation } from './ai-operation.ts';
export { deliverBurst } from './deliver-burst.ts';
export { deliverWebhook } from './deliver-webhook.ts';
export { generateArticle } from './generate-article.ts';
export { prune } from './prune.ts';
export { emptyDeleted, reconcileDeliveries, reconcileHolds, reconcileJobs } from './reconcile.ts';
export { refreshTranslation } from './refresh-translation.ts';
export { regenerateImage } from './regenerate-image.ts';
export { translateArticle } from './translate-article.ts';
