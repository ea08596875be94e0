/** The whole catalog: a role holds any set of these, each named `<area>.<verb>`. */
export const PERMISSIONS = [
  'api_keys.create',
  'api_keys.read',
  'api_keys.revoke',
  'articles.create',
  'articles.delete',
  'articles.generate',
  'articles.publish',
  'articles.read',
  'articles.review',
  'articles.update',
  'audit.read',
  'categories.create',
  'categories.delete',
  'categories.read',
  'categories.update',
  'credits.read',
  'generation.configure',
  'integrations.create',
  'integrations.delete',
  'integrations.read',
  'projects.create',
  'projects.delete',
  'projects.read',
  'projects.update',
  'roles.create',
  'roles.delete',
  'roles.read',
  'roles.update',
  'translations.configure',
  'workspaces.delete',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

const known: ReadonlySet<string> = new Set(PERMISSIONS);

/** True for a name of the catalog. */
export const isPermission = (name: string): name is Permission => known.has(name);

/**
 * The built-in roles of every workspace; they can be neither edited nor deleted. Their permissions are defined here
 * only: their rows say only that they exist.
 */
export const BUILT_IN_ROLES = {
  owner: { name: 'Owner', permissions: PERMISSIONS },
  admin: { name: 'Admin', permissions: PERMISSIONS.filter((name) => name !== 'workspaces.delete') },
  editor: {
    name: 'Editor',
    permissions: PERMISSIONS.filter(
      (name) =>
        name.startsWith('articles.') ||
        name.startsWith('categories.') ||
        name === 'translations.configure' ||
        name === 'projects.read' ||
        name === 'credits.read',
    ),
  },
} as const satisfies Record<string, { name: string; permissions: readonly Permission[] }>;

const builtInByName: ReadonlyMap<string, readonly Permission[]> = new Map(
  Object.values(BUILT_IN_ROLES).map(({ name, permissions }) => [name, permissions]),
);

/** The permissions of a role: from this code for a built-in one, else from its row. */
export const permissionsOf = (role: {
  readonly name: string;
  readonly built_in: boolean;
  readonly permissions: readonly string[];
}): readonly string[] => (role.built_in ? builtInByName.get(role.name) : undefined) ?? role.permissions;
