import type { RouteModule } from '../http/route.ts';
import { createDeliveryRoutes } from './deliveries/routes.ts';
import { createEndpointRoutes, type EndpointRouteDependencies } from './endpoints/routes.ts';

export type WebhookRouteDependencies = EndpointRouteDependencies;

/** Webhook endpoints and their deliveries. */
export const createWebhookRoutes = (dependencies: WebhookRouteDependencies): RouteModule[] => [
  ...createEndpointRoutes(dependencies),
  ...createDeliveryRoutes(dependencies),
];
