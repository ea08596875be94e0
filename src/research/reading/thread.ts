/** The entry point of a thread that works on what strangers sent. */
import robotsParser from 'robots-parser';
import { extractPage } from './extract.ts';
import { ROBOTS_TOKEN } from './page.ts';

/** Its types name a default of the default. */
const parseRobots = robotsParser as unknown as (
  url: string,
  rules: string,
) => { isAllowed(url: string, token: string): boolean | undefined };

/** Work as it is posted to a thread. */
export type Posted =
  | { readonly task: 'extract'; readonly html: string; readonly host: string }
  | { readonly task: 'robots'; readonly robotsUrl: string; readonly rules: string; readonly url: string }
  | { readonly task: 'start' };

export default function work(posted: Posted): unknown {
  switch (posted.task) {
    case 'extract':
      return extractPage(posted.html, posted.host, new Date());
    case 'robots':
      return parseRobots(posted.robotsUrl, posted.rules).isAllowed(posted.url, ROBOTS_TOKEN) !== false;
    case 'start':
      return null;
  }
}
