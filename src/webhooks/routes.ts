import type { RouteModule } from '../http/route.ts';
import { createDeliveryRoutes } from './deliveries/routes.ts';
import { createEndpointRoutes, type EndpointRouteDependencies } from './endpoints/routes.ts';
import { createSettingsRoutes } from './endpoints/settings-routes.ts';

/** Webhook endpoints and their deliveries. */
export const createWebhookRoutes = (dependencies: EndpointRouteDependencies): RouteModule[] => [
  ...createEndpointRoutes(dependencies),
  ...createSettingsRoutes(dependencies.secrets),
  ...createDeliveryRoutes(dependencies.runCanceller),
];
