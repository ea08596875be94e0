/**
 * The ports that no browser sends HTTP to (Fetch standard, "port blocking",
 * https://fetch.spec.whatwg.org/#port-blocking): mail, login, files and other services that take commands as text. Only
 * 9, which discards everything, is allowed here.
 */
const REFUSED_BY_FETCH = [
  ...[1, 7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104],
  ...[
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  ],
  ...[526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049],
  ...[3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
];

/**
 * Common neighbours of a service like this one: SQL Server, Oracle, Docker, etcd, MySQL, Postgres, AMQP, Redis,
 * Temporal, Cassandra, Kafka, Elasticsearch (two), the kubelet, memcached and MongoDB.
 */
const REFUSED_NEIGHBOURS = [
  ...[1433, 1521, 2375, 2376, 2379, 2380, 3306, 5432, 5672, 6379, 7233, 9042, 9092, 9200, 9300, 10250, 11211],
  27017,
];

const REFUSED = new Set([...REFUSED_BY_FETCH, ...REFUSED_NEIGHBOURS]);

/**
 * Whether a port is refused, whatever its address and WEBHOOK_ALLOWED_NETWORKS. Takes a URL's port, '' for its default.
 */
export function isRefusedPort(port: string): boolean {
  return port !== '' && REFUSED.has(Number(port));
}
