import { isIP } from 'node:net';

/** The names that are ours. */
export interface OwnHosts {
  /** `webui.allowed_hosts` */
  readonly allowedHosts: readonly string[];
  /** `server.hostname` */
  readonly hostname: string;
  /** A set-up link is out: whoever holds it may come by a name that is not ours yet. */
  readonly anyHost?: boolean;
}

const HOST = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::\d{1,5})?$/;

/** Whether a host as in a URL, in lower case, with or without a port, is ours. Addresses are. */
export function isOwnHost(host: string, { allowedHosts, hostname, anyHost = false }: OwnHosts): boolean {
  const [, address, name] = HOST.exec(host) ?? [];
  if (address !== undefined) return isIP(address) === 6;
  if (name === undefined) return false;
  const plain = name.replace(/\.$/, '');
  return (
    anyHost ||
    isIP(plain) === 4 ||
    ['localhost', hostname, ...allowedHosts].some((own) => own.toLowerCase() === plain)
  );
}
