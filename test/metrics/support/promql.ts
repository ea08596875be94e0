/** What an expression of Prometheus' language reads. */
export interface Reading {
  readonly selectors: readonly Selector[];
  /** Labels of by, without, on, ignoring and the groups. */
  readonly labels: readonly string[];
}

export interface Selector {
  readonly name: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

const TOKEN =
  /\s+|(?<text>"[^"]*")|(?<duration>\[[^\]]*\])|(?<variable>\$\w+)|(?<number>\d[\w.]*)|(?<name>[a-zA-Z_:][\w:]*)|(?<sign>=~|!~|!=|==|>=|<=|[-+*/%^()<>={},])/y;
const WORDS = new Set(['and', 'or', 'unless', 'bool', 'offset']);
const GROUPING = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);

function tokensOf(expression: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const at = TOKEN.lastIndex;
    const groups = TOKEN.exec(expression)?.groups;
    if (groups === undefined) throw new Error(`not understood: ${expression.slice(at)}`);
    const token = groups.text ?? groups.number ?? groups.name ?? groups.sign ?? groups.variable;
    if (token !== undefined) tokens.push(token);
  }
  return tokens;
}

const isName = (token: string | undefined): token is string => /^[a-zA-Z_:]/.test(token ?? '');

/** Reads the metrics and labels of an expression. @throws at what it does not understand */
export function readExpression(expression: string): Reading {
  const tokens = tokensOf(expression);
  const selectors: Selector[] = [];
  const labels: string[] = [];
  let at = 0;
  const until = (end: string): string[] => {
    const from = at;
    at = tokens.indexOf(end, from) + 1;
    if (at === 0) throw new Error(`no ${end}: ${expression}`);
    return tokens.slice(from, at - 1);
  };
  while (at < tokens.length) {
    const token = tokens[at];
    at += 1;
    if (!isName(token) || WORDS.has(token)) continue;
    const next = tokens[at];
    if (GROUPING.has(token)) {
      at += 1;
      labels.push(...until(')').filter((each) => each !== ','));
      continue;
    }
    if (next === '(') continue;
    // An aggregation with its labels before its argument: sum by (le) (…).
    if (next !== undefined && GROUPING.has(next)) continue;
    const matchers: Selector['matchers'][number][] = [];
    if (next === '{') {
      at += 1;
      const inside = until('}').filter((each) => each !== ',');
      for (let index = 0; index < inside.length; index += 3) {
        const [label = '', operator = '', value = ''] = inside.slice(index, index + 3);
        matchers.push({ label, operator, value: value.slice(1, -1) });
      }
    }
    selectors.push({ name: token, matchers });
  }
  return { selectors, labels };
}
