/** The parts of Grafana's dashboards that ours use, in the form of its JSON. */

/** A line of a panel: an expression, and its legend, in which `{{label}}` is filled. */
export type Query = readonly [expression: string, legend: string];

/** Grafana's names of units. */
export type Unit = 'short' | 's' | 'bytes' | 'reqps' | 'ops' | 'percentunit';

export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  readonly queries: readonly Query[];
  /** What to look for; shown at the panel's corner. */
  readonly description?: string;
}

export interface Dashboard {
  /** Stays the same, so that links and a newer file find it. */
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const WIDTH = 12;
const HEIGHT = 8;
const COLUMNS = 2;
const SOURCE = { type: 'prometheus', uid: '$datasource' };

/** A dashboard as Grafana imports it: panels in two columns, and a choice of the Prometheus to read. */
export const dashboardJson = ({ uid, title, panels }: Dashboard) => ({
  uid,
  title: `Content service: ${title}`,
  tags: ['content-service'],
  schemaVersion: 39,
  editable: true,
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  timezone: 'browser',
  templating: {
    list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' }],
  },
  panels: panels.map(({ title: name, unit, queries, description = '' }, index) => ({
    id: index + 1,
    type: 'timeseries',
    title: name,
    description,
    datasource: SOURCE,
    gridPos: {
      x: (index % COLUMNS) * WIDTH,
      y: Math.floor(index / COLUMNS) * HEIGHT,
      w: WIDTH,
      h: HEIGHT,
    },
    fieldConfig: {
      defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: 'never' } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom' },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    targets: queries.map(([expr, legendFormat], at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: SOURCE,
      expr,
      legendFormat,
    })),
  })),
});
