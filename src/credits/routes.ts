import { z } from 'zod';
import { defineRoute, type RouteModule } from '../http/route.ts';
import { walletSchema } from './schemas.ts';
import { readWallet } from './wallet.ts';

/** Reading the wallet. */
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
    async ({ context }) => ({ status: 200, body: { wallet: await readWallet(context) } }),
  ),
];
