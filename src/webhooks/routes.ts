import type { RouteModule } from '../http/route.ts';
import { createDeliveryRoutes } from './deliveries/routes.ts';
import { createEndpointRoutes, type EndpointRouteDependencies } from './endpoints/routes.ts';

/** Webhook endpoints and their deliveries. */
export const createWebhookRoutes = (dependencies: EndpointRouteDependencies): RouteModule[] => [
  ...createEndpointRoutes(dependencies),
  ...createDeliveryRoutes(dependencies.runCanceller),
];
