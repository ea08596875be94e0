/** Phrases by which a page gives orders to a model. A short list: what it misses must do no harm all the same. */

/** What such a phrase tries. Quotes nothing of the page. */
export type Reason =
  | 'tells models to ignore instructions'
  | 'gives models a role'
  | 'speaks as a system message';

const all = '(?:all |any |every |of |the |your |my |these |those |everything |its )';
const PHRASES: readonly { readonly reason: Reason; readonly pattern: RegExp }[] = [
  {
    reason: 'tells models to ignore instructions',
    pattern: new RegExp(
      [
        `(?:ignore|disregard|forget|override|bypass) ${all}{0,4}(?:previous|prior|preceding|earlier|above|former|foregoing|system|original) (?:\\w{1,20} )?(?:instructions?|prompts?|rules|directions|commands|messages?|context|guidelines)`,
        `(?:ignore|disregard|forget) ${all}{0,4}(?:instructions|prompts?) (?:above|before|you (?:were|have been|got))`,
        '(?:ignorier(?:e|en sie|t)|missachte|vergiss|vergessen sie) (?:bitte )?(?:alle |sämtliche )?(?:deine |ihre |die )?(?:vorherigen|vorigen|bisherigen|früheren|obigen|vorangegangenen) (?:anweisungen|instruktionen|regeln|befehle|vorgaben|prompts)',
        '(?:ignora|olvida|descarta|ignore|olvide)[rn]? (?:todas? )?(?:las |tus |sus )?(?:instrucciones|indicaciones|órdenes|reglas) (?:anteriores|previas|precedentes)',
        '(?:ignore[zr]?|oublie[zr]?|oublie) (?:toutes? )?(?:les |tes |vos )?(?:instructions|consignes|règles|directives) (?:précédentes|antérieures|ci-dessus)',
        '(?:ignora|dimentica|ignorare) (?:tutte )?(?:le |tue )?(?:istruzioni|regole|indicazioni) (?:precedenti|sopra)',
        '(?:ignore|esqueça|desconsidere) (?:todas )?(?:as )?(?:instruções|regras|orientações) (?:anteriores|acima|prévias)',
        '(?:negeer|vergeet) (?:alle )?(?:de )?(?:vorige|voorgaande|eerdere|bovenstaande) (?:instructies|opdrachten|regels)',
        '(?:zignoruj|ignoruj|zapomnij) (?:wszystkie )?(?:poprzednie|wcześniejsze|powyższe) (?:instrukcje|polecenia|zasady)',
        '(?:игнорируй(?:те)?|забудь(?:те)?) (?:все )?(?:предыдущие|прежние|прошлые) (?:инструкции|указания|правила|команды)',
        '(?:önceki|yukarıdaki) (?:tüm |bütün )?(?:talimatları|komutları|kuralları) (?:yok say|görmezden gel|unut)',
        '(?:忽略|無視|忘记|忘記|无视)(?:掉)?(?:之前|以上|先前|前面|上述)(?:的)?(?:所有|全部|一切)?(?:的)?(?:指令|指示|提示|规则|規則|命令)',
        '(?:以前|これまで|上記|前)の(?:すべての|全ての)?(?:指示|命令|ルール)(?:を|は)(?:すべて|全て)?(?:無視|忘れ)',
        '(?:이전|위의|앞의) ?(?:모든 )?(?:지시|명령|규칙)(?:사항)?(?:을|를)? ?(?:모두 )?(?:무시|잊)',
        '(?:تجاهل|انس) (?:جميع |كل )?(?:التعليمات|الأوامر|القواعد) السابقة',
      ].join('|'),
      'iu',
    ),
  },
  {
    reason: 'gives models a role',
    pattern: new RegExp(
      [
        '(?:if you are|as) an? (?:ai|llm|large language model|language model|ai assistant|chatbot|ai agent)[,:]? (?:(?:reading|processing|summari[sz]ing) this[^.!?]{0,60}[,:]? )?(?:you (?:must|should|have to|will|shall)|please (?:include|say|write|recommend|link|mention|visit|add)|always |do not |never )',
        '(?:note|message|instructions?|attention|notice) (?:to|for) (?:all |any |the )?(?:ai|llm|llms|language models?|ai assistants?|ai agents?|chatbots)\\b ?[:,!-]',
        'you are (?:now |henceforth )(?:in (?:developer|debug|admin|dan|jailbreak) mode|a helpful assistant|dan\\b|an? (?:unrestricted|uncensored))',
        '(?:wenn|falls) (?:du|sie) (?:eine? )?(?:ki|künstliche intelligenz|sprachmodell|ki-assistent|chatbot) (?:bist|sind)',
        'si (?:tu es|vous êtes) (?:une? )?(?:ia|intelligence artificielle|modèle de langage)',
        'si eres (?:una? )?(?:ia|inteligencia artificial|modelo de lenguaje)',
      ].join('|'),
      'iu',
    ),
  },
  {
    reason: 'speaks as a system message',
    pattern: new RegExp(
      [
        '<\\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\\|?>',
        '\\[/?INST\\]',
        '<<SYS>>',
        '(?:^|\\n) ?(?:###? ?)?(?:system|assistant|developer) ?(?:prompt|message|instruction)s? ?:',
        '</?(?:system|system_prompt|instructions|assistant)>',
        'begin (?:new )?(?:system|admin) (?:prompt|instructions|message)',
        '(?:reveal|print|repeat|output|show me) (?:your|the) (?:system prompt|hidden prompt|initial instructions|secret instructions)',
      ].join('|'),
      'iu',
    ),
  },
];

/** Spaces, and letters that look the same, made alike, so that a trick of spelling hides nothing simple. Lines stay. */
const plain = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Cf}+/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/[^\S\n]+/gu, ' ');

/**
 * Why a text is taken for one that gives orders to models, or null (contract.md N7). A page about such attacks that quotes one is
 * taken for one, too. Every repetition in the patterns is bounded, so this is linear.
 */
export function speaksToModels(text: string): Reason | null {
  const read = plain(text);
  return PHRASES.find(({ pattern }) => pattern.test(read))?.reason ?? null;
}
