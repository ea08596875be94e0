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
  'workspaces.delete',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

const known: ReadonlySet<string> = new Set(PERMISSIONS);

/** True for a name of the catalog. */
export const isPermission = (name: string): name is Permission => known.has(name);

/** The roles every workspace is born with; they can be neither edited nor deleted. */
export const BUILT_IN_ROLES = {
  owner: { name: 'Owner', permissions: PERMISSIONS },
  admin: { name: 'Admin', permissions: PERMISSIONS.filter((name) => name !== 'workspaces.delete') },
  editor: {
    name: 'Editor',
    permissions: PERMISSIONS.filter(
      (name) =>
        name.startsWith('articles.') ||
        name.startsWith('categories.') ||
        name === 'projects.read' ||
        name === 'credits.read',
    ),
  },
} as const satisfies Record<string, { name: string; permissions: readonly Permission[] }>;
