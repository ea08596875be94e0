/** What the rules of style are in a language: its conventions, and the phrases that give a machine away. */

interface Style {
  /** Quotation marks, numbers, address, punctuation. */
  readonly conventions: string;
  /** Phrases to leave out. */
  readonly cliches: readonly string[];
}

const STYLES: Readonly<Record<string, Style>> = {
  en: {
    conventions:
      'Quotation marks “…”, numbers 1,000.5, headings in sentence case; address the reader as “you”.',
    cliches: [
      'in today’s fast-paced world',
      'delve into',
      'unlock',
      'game-changer',
      'in the realm of',
      'it’s important to note',
      'navigate the complexities',
      'whether you’re a beginner or an expert',
      'look no further',
      'a testament to',
      'when it comes to',
    ],
  },
  de: {
    conventions:
      'Anführungszeichen „…“, Zahlen 1.000,5, zusammengesetzte Wörter nach Duden; ohne andere Vorgabe die Anrede „Sie“.',
    cliches: [
      'in der heutigen Zeit',
      'in der heutigen schnelllebigen Welt',
      'es ist wichtig zu beachten',
      'spielt eine entscheidende Rolle',
      'eintauchen in die Welt',
      'auf das nächste Level heben',
      'nicht nur …, sondern auch',
      'zusammenfassend lässt sich sagen',
    ],
  },
  es: {
    conventions:
      'Comillas «…» o “…” según la región, signos de apertura ¿ y ¡, coma decimal o punto según la región; sin otra indicación, «tú».',
    cliches: [
      'en el mundo actual',
      'sin lugar a dudas',
      'es importante destacar',
      'juega un papel crucial',
      'sumérgete en',
      'lleva tu … al siguiente nivel',
      'en conclusión',
    ],
  },
  fr: {
    conventions:
      'Guillemets « … » avec espaces insécables, espace insécable avant : ; ! ?, virgule décimale, titres sans majuscules superflues ; sans autre indication, « vous ».',
    cliches: [
      'de nos jours',
      'dans le monde d’aujourd’hui',
      'il est important de noter',
      'joue un rôle crucial',
      'plongez dans',
      'n’hésitez pas à',
      'que vous soyez débutant ou expert',
      'en conclusion',
    ],
  },
  it: {
    conventions:
      'Virgolette «…» o “…”, virgola decimale, titoli con la sola iniziale maiuscola; senza altra indicazione, «tu».',
    cliches: [
      'nel mondo di oggi',
      'al giorno d’oggi',
      'è importante notare',
      'gioca un ruolo fondamentale',
      'immergiamoci',
      'che tu sia un principiante o un esperto',
      'in conclusione',
    ],
  },
  pt: {
    conventions:
      'Aspas “…” (em Portugal também «…»), vírgula decimal; no Brasil “você”, em Portugal sem “você” expresso.',
    cliches: [
      'no mundo de hoje',
      'nos dias de hoje',
      'é importante ressaltar',
      'desempenha um papel crucial',
      'mergulhe em',
      'leve o seu … ao próximo nível',
      'em conclusão',
    ],
  },
  nl: {
    conventions:
      'Aanhalingstekens ‘…’ of “…”, decimale komma, samenstellingen aaneen; zonder andere wens „je”.',
    cliches: [
      'in de wereld van vandaag',
      'in de huidige tijd',
      'het is belangrijk om op te merken',
      'speelt een cruciale rol',
      'duik in',
      'naar een hoger niveau tillen',
      'kortom',
    ],
  },
  sv: {
    conventions:
      'Citattecken ”…”, decimalkomma, mellanslag som tusentalsavgränsare, sammansatta ord ihop; tilltal ”du”.',
    cliches: [
      'i dagens värld',
      'i dagens snabba samhälle',
      'det är viktigt att notera',
      'spelar en avgörande roll',
      'dyk ner i',
      'ta … till nästa nivå',
      'sammanfattningsvis',
    ],
  },
  pl: {
    conventions:
      'Cudzysłów „…”, przecinek dziesiętny, nagłówki z wielką literą tylko na początku; bez innego życzenia forma „ty”.',
    cliches: [
      'w dzisiejszych czasach',
      'w dzisiejszym świecie',
      'warto zauważyć',
      'odgrywa kluczową rolę',
      'zanurz się w',
      'przenieś … na wyższy poziom',
      'podsumowując',
    ],
  },
  ja: {
    conventions:
      'かぎ括弧「…」、全角の句読点「、。」を使い、日本語と英数字の間に空白を入れない。特に指定がなければ「です・ます」調で書く。',
    cliches: [
      '現代社会において',
      '近年注目を集めている',
      '言うまでもなく',
      'と言っても過言ではありません',
      '重要な役割を果たします',
      'まとめると',
      'いかがでしたか',
    ],
  },
  zh: {
    conventions: '使用全角标点，简体用“…”，繁體用「…」；汉字与数字之间不加空格，没有其他要求时称读者为“你”。',
    cliches: [
      '在当今社会',
      '随着科技的发展',
      '众所周知',
      '值得注意的是',
      '起着至关重要的作用',
      '总而言之',
      '综上所述',
      '让我们一起',
    ],
  },
  ko: {
    conventions: '따옴표는 “…”, 띄어쓰기는 표준 맞춤법을 따르고, 다른 지시가 없으면 ‘합니다’체로 쓴다.',
    cliches: [
      '오늘날 빠르게 변화하는',
      '현대 사회에서',
      '주목할 만한 점은',
      '중요한 역할을 합니다',
      '결론적으로',
      '알아보겠습니다',
    ],
  },
  ru: {
    conventions: 'Кавычки «…», запятая в дробях, тире с пробелами; без иных пожеланий обращение на «вы».',
    cliches: [
      'в современном мире',
      'в наше время',
      'важно отметить',
      'играет ключевую роль',
      'ни для кого не секрет',
      'подводя итог',
    ],
  },
};

/** The conventions and clichés of a language; of one that is not listed, those of English as phrases to avoid the like of. */
export function styleOf(tag: string): { conventions: string | null; cliches: readonly string[] } {
  const { language } = new Intl.Locale(tag);
  const own = STYLES[language];
  return { conventions: own?.conventions ?? null, cliches: own?.cliches ?? STYLES.en?.cliches ?? [] };
}
