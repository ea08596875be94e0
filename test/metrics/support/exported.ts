import { Registry } from 'prom-client';
import { createRooms } from '../../../src/http/rooms.ts';
import { createDeliveryMetrics } from '../../../src/metrics/deliveries.ts';
import { createEventMetrics } from '../../../src/metrics/events.ts';
import { createGenerationMetrics } from '../../../src/metrics/generations.ts';
import { createHttpMetrics } from '../../../src/metrics/http.ts';
import type { Exposition } from './exposition.ts';
import type { Selector } from './promql.ts';

/** Each metric by name, as expressions name it, with the labels it has and the values seen of each. */
export type Exported = Map<string, Map<string, Set<string>>>;

/** What Prometheus adds to each series that it scrapes. */
const OF_A_SCRAPE = ['job', 'instance'];

const namesOf = (name: string, type: string): string[] =>
  type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];

function add(exported: Exported, name: string, labels: Readonly<Record<string, string | null>>): void {
  const known = exported.get(name) ?? new Map<string, Set<string>>();
  exported.set(name, known);
  for (const [label, value] of Object.entries(labels)) {
    const values = known.get(label) ?? new Set();
    known.set(label, values);
    if (value !== null) values.add(value);
  }
}

/**
 * Everything that scrapes had, and the labels of metrics that have no sample before something happens. Each has the labels
 * that Prometheus adds, and there is Prometheus' own `up`.
 */
export function exportedBy(scrapes: readonly Exposition[]): Exported {
  const exported: Exported = new Map();
  for (const { families, samples } of scrapes) {
    for (const [name, type] of families) for (const each of namesOf(name, type)) add(exported, each, {});
    for (const { name, labels } of samples) add(exported, name, labels);
  }
  const registry = new Registry();
  createDeliveryMetrics(registry);
  createEventMetrics(registry);
  createGenerationMetrics(registry);
  const ofHttp = createHttpMetrics(
    () => 0,
    () => 0,
    createRooms(),
  ).registry;
  for (const { name, type, labelNames } of [registry, ofHttp].flatMap(declaredIn)) {
    const labels = Object.fromEntries(labelNames.map((label) => [label, null]));
    for (const each of namesOf(name, type)) if (exported.has(each)) add(exported, each, labels);
  }
  add(exported, 'up', {});
  for (const name of exported.keys()) {
    add(exported, name, Object.fromEntries(OF_A_SCRAPE.map((label) => [label, null])));
  }
  return exported;
}

/** prom-client declares these for those who register; its types hide the labels. */
function declaredIn(registry: Registry): { name: string; type: string; labelNames: string[] }[] {
  return (registry.getMetricsAsArray() as unknown as { name: string; labelNames?: string[] }[]).map(
    (metric) => ({
      name: metric.name,
      type: metric.constructor.name.toLowerCase(),
      labelNames: metric.labelNames ?? [],
    }),
  );
}

/** What of an expression's metrics and labels is not exported: each in words. */
export function missingIn(
  exported: Exported,
  { selectors, labels }: { readonly selectors: readonly Selector[]; readonly labels: readonly string[] },
): string[] {
  const missing: string[] = [];
  for (const { name, matchers } of selectors) {
    const known = exported.get(name);
    if (known === undefined) missing.push(`metric ${name}`);
    else {
      for (const { label } of matchers) if (!known.has(label)) missing.push(`label ${label} of ${name}`);
    }
  }
  for (const label of labels) {
    if (!selectors.some(({ name }) => exported.get(name)?.has(label))) missing.push(`label ${label}`);
  }
  return missing;
}
