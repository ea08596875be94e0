import { z } from 'zod';
import { pageQuery } from '../http/paging.ts';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { ok } from '../http/success.ts';
import { decodeLedgerCursor, listLedger } from './ledger.ts';
import { ledgerPageSchema, walletSchema } from './schemas.ts';
import { readWallet } from './wallet.ts';

/** The wallet and its history. */
export const createCreditRoutes = (): RouteModule[] => [
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/wallet',
      operationId: 'readWallet',
      summary: 'Read the credit wallet',
      tags: ['Credits'],
      scope: 'workspace',
      permissions: ['credits.read'],
      responses: {
        200: {
          description: 'The wallet.',
          schema: z.object({ wallet: walletSchema }),
          example: { wallet: { balance: 1000, reserved: 2, available: 998 } },
        },
      },
    },
    async ({ context }) => ok({ wallet: await readWallet(context) }),
  ),
  defineRoute(
    {
      method: 'get',
      path: '/api/workspaces/{workspaceId}/ledger',
      operationId: 'listLedger',
      summary: 'Read the credit ledger',
      description:
        'Every change of the balance, newest first, page by page. The amounts add up to the balance.',
      tags: ['Credits'],
      scope: 'workspace',
      permissions: ['credits.read'],
      query: pageQuery,
      responses: {
        200: {
          description: 'One page.',
          schema: ledgerPageSchema,
          example: {
            entries: [
              {
                id: '2c8e4f60-7a1b-4d3c-9e5f-6b7a8c9d0e1f',
                kind: 'settlement',
                amount: -2,
                paymentEventId: null,
                purpose: 'translation',
                runId: '9b1d3f5a-6c2e-4d8b-a1f7-0e4c8a2d6b93',
                createdAt: '2026-11-21T07:30:00.000Z',
              },
              {
                id: '6f1d2e3c-4b5a-4968-8776-554433221100',
                kind: 'purchase',
                amount: 500,
                paymentEventId: 'evt_1RkT9',
                purpose: null,
                runId: null,
                createdAt: '2026-11-20T16:00:00.000Z',
              },
            ],
            nextCursor: null,
          },
        },
      },
    },
    async ({ context, query }) =>
      ok(await listLedger(context, { limit: query.limit, before: decodeLedgerCursor(query.cursor) })),
  ),
];
