/**
 * What one tenant may cost another: the times of GET /api/whoami by one key, alone and while another tenant sends the worst
 * legal bodies of 64 KiB on 200 connections. Promised is that the 99th percentile grows by 50 ms at most.
 */
import { measureBesideCrowd } from '../lib/beside-crowd.ts';
import { WORST } from './small-legal.ts';

const requests = Object.entries(WORST).map(([name, body]) => [
  name,
  {
    target: ({ projectId }: { projectId: string }) => `/api/projects/${projectId}/articles`,
    contentType: 'application/json',
    body,
  },
]);
await measureBesideCrowd('tenants', 50, Object.fromEntries(requests));
