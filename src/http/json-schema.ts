import { z } from 'zod';

export type JsonSchema = { readonly [key: string]: unknown };

/** Adds a schema under components and returns nothing: `name` is free or holds the very same schema. */
type AddComponent = (name: string, schema: JsonSchema) => void;

/**
 * Turns zod schemas into the JSON Schema of OpenAPI 3.1, from the same objects that validate. Schemas
 * with an id (`.meta({ id: 'Article' })`) become components, once each.
 */
export function createSchemaWriter(addComponent: AddComponent) {
  const known = new Map<string, string>();

  const componentName = (wanted: string, json: string): string => {
    let name = wanted;
    for (let suffix = 2; known.has(name) && known.get(name) !== json; suffix += 1)
      name = `${wanted}${suffix}`;
    return name;
  };

  return (schema: z.ZodType, io: 'input' | 'output', owner: string): JsonSchema => {
    const {
      $schema: _,
      $defs,
      ...root
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        // Clients must bear fields that are added later.
        if (io === 'output' && jsonSchema.additionalProperties === false)
          delete jsonSchema.additionalProperties;
      },
    });
    const names = new Map<string, string>();
    for (const [id, definition] of Object.entries($defs ?? {})) {
      const wanted = id.startsWith('__') ? `${owner}${id.replaceAll('_', '')}` : id;
      names.set(id, componentName(wanted, JSON.stringify(definition)));
    }
    const relink = (json: string): JsonSchema =>
      JSON.parse(
        json.replaceAll(/"#\/\$defs\/([^"]+)"/g, (_match, id: string) =>
          JSON.stringify(`#/components/schemas/${names.get(id) ?? id}`),
        ),
      ) as JsonSchema;
    for (const [id, definition] of Object.entries($defs ?? {})) {
      const name = names.get(id) ?? id;
      const json = JSON.stringify(definition);
      if (known.has(name)) continue;
      known.set(name, json);
      const { id: _id, ...component } = relink(json);
      addComponent(name, component);
    }
    return relink(JSON.stringify(root));
  };
}
