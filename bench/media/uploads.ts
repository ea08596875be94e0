/**
 * The times of GET /api/whoami by one key, alone and while another tenant uploads images on 200 connections. Promised is
 * that the 99th percentile grows by 100 ms at most.
 */
import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { measureBesideCrowd } from '../lib/beside-crowd.ts';

const target = ({ articleId }: { articleId: string }): string => `/api/articles/${articleId}/assets`;
const noise = await sharp(randomBytes(500 * 375 * 3), { raw: { width: 500, height: 375, channels: 3 } })
  .png()
  .toBuffer();
const photo = await sharp(noise).resize(4_000, 3_000).jpeg({ quality: 90 }).toBuffer();
const flat = await sharp({ create: { width: 8_000, height: 5_000, channels: 3, background: '#8ab' } })
  .png({ compressionLevel: 9 })
  .toBuffer();
await measureBesideCrowd('uploads', 100, {
  'photos of 12 MP': { target, contentType: 'image/jpeg', body: photo },
  'PNG of 40 MP': { target, contentType: 'image/png', body: flat },
});
