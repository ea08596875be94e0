import type { RouteModule } from '../http/route.ts';
import { createArticleMoveRoutes } from './move-routes.ts';
import { createArticleReadRoutes } from './read-routes.ts';
import { createArticleWriteRoutes } from './write-routes.ts';

/** Articles. */
export const createArticleRoutes = (): RouteModule[] => [
  ...createArticleReadRoutes(),
  ...createArticleWriteRoutes(),
  ...createArticleMoveRoutes(),
];
