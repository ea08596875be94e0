import type { Dashboard } from './grafana.ts';

const rate = (labels: string, name: string) => `sum by (${labels}) (rate(${name}[$__rate_interval]))`;

export const ENGINES: Dashboard = {
  uid: 'content-service-engines',
  title: 'engines',
  panels: [
    {
      title: 'Batches to translate',
      unit: 'ops',
      queries: [[rate('outcome', 'translation_batches_total'), '{{outcome}}']],
    },
    {
      title: 'Segments translated',
      unit: 'ops',
      queries: [['sum(rate(translation_segments_total[$__rate_interval]))', 'segments']],
    },
    {
      title: 'Calls of models',
      unit: 'ops',
      queries: [[rate('model, outcome', 'generation_calls_total'), '{{model}}: {{outcome}}']],
    },
    {
      title: 'Tokens of models',
      unit: 'ops',
      queries: [[rate('model, kind', 'generation_tokens_total'), '{{model}}: {{kind}}']],
      description: 'Whose they are: admin top.',
    },
    {
      title: 'Parts of articles',
      unit: 'ops',
      queries: [[rate('outcome', 'generation_parts_total'), '{{outcome}}']],
    },
    {
      title: 'Refusals because of our settings',
      unit: 'short',
      queries: [
        ['sum(increase(translation_engine_refusals_total[1h]))', 'translation'],
        ['sum(increase(generation_engine_refusals_total[1h]))', 'models'],
      ],
      description: 'Key, address, model or quota.',
    },
    {
      title: 'Calls for images',
      unit: 'ops',
      queries: [[rate('model, outcome', 'generation_image_calls_total'), '{{model}}: {{outcome}}']],
    },
    {
      title: 'Images of articles in an hour',
      unit: 'short',
      queries: [['sum by (outcome) (increase(generation_images_total[1h]))', '{{outcome}}']],
    },
    {
      title: 'Searches',
      unit: 'ops',
      queries: [[rate('outcome', 'generation_searches_total'), '{{outcome}}']],
    },
    {
      title: 'Pages read',
      unit: 'ops',
      queries: [[rate('outcome', 'generation_pages_total'), '{{outcome}}']],
    },
    {
      title: 'Claims by verdict, in an hour',
      unit: 'short',
      queries: [['sum by (verdict) (increase(generation_claims_total[1h]))', '{{verdict}}']],
    },
    {
      title: 'Time of activities (95 %)',
      unit: 's',
      queries: [
        [
          'topk(10, histogram_quantile(0.95, sum by (le, activity_type) (rate(temporal_activity_execution_latency_seconds_bucket[$__rate_interval]))))',
          '{{activity_type}}',
        ],
      ],
    },
  ],
};
