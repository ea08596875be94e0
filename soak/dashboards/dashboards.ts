import { DELIVERIES } from './deliveries.ts';
import { ENGINES } from './engines.ts';
import { dashboardJson } from './grafana.ts';
import { JOBS } from './jobs.ts';
import { POSTGRES } from './postgres.ts';
import { REQUESTS } from './requests.ts';

/** The dashboards of docs/dashboards, each with the file that it is in. */
export const dashboards = [REQUESTS, DELIVERIES, JOBS, ENGINES, POSTGRES].map((dashboard) => ({
  file: `${dashboard.uid.replace('content-service-', '')}.json`,
  dashboard: dashboardJson(dashboard),
}));
