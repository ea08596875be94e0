import { z } from 'zod';

/**
 * The JSON Schema of a model's response, in the subset that strict modes accept: every key required, no bounds on
 * integers, choices as `anyOf`.
 */
export function strictSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
      if (jsonSchema.oneOf === undefined) return;
      jsonSchema.anyOf = jsonSchema.oneOf;
      delete jsonSchema.oneOf;
    },
  });
  return rest;
}
