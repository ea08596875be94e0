/** What the parts of a generation are, in the order in which a run makes them. */
export const PART_KINDS = ['outline', 'plan', 'section', 'faq', 'edits', 'lead', 'imagePrompts'] as const;
export type PartKind = (typeof PART_KINDS)[number];
