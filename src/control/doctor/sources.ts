import { type Finding, ok, warn } from './finding.ts';
import type { Check, Premises } from './premises.ts';
import { isInside, isLoopback, setOf } from './ranges.ts';

const NAME = 'sources';
/** Waiting recipients whose source is looked at. */
const SAMPLE = 500;
/** Of fewer it would be chance that all have one source. */
const ENOUGH = 20;

/**
 * Whether the sources we see are the real ones. Behind the port mapping of a container, or NAT, every stranger has the
 * gateway's address, and whoever allows that address allows the world.
 */
export const sourcesCheck: Check = async (premises) => {
  const { machine, loaded } = premises;
  const { allowedCidrs } = loaded.config.listener;
  const gateway = machine.gateway();
  const hidden = gateway !== null && setOf(allowedCidrs).contains(gateway);
  const cure =
    'listener: { require_auth: true }  # or run the container with --network host, or put a proxy before it: listener.trusted_proxies';
  const found: Finding[] = [];
  if (hidden && machine.inContainer())
    found.push(
      warn(
        NAME,
        `listener.allowed_cidrs lets ${gateway} send, the gateway of this container: behind a port mapping every stranger may have that address.`,
        cure,
      ),
    );
  const single = await singleSource(premises);
  if (single !== null && isInside(single) && !isLoopback(single))
    found.push(
      warn(
        NAME,
        `All mail that waits came from ${single}, a private address${single === gateway ? ' and our gateway' : ''}: NAT may hide who really sent it.`,
        cure,
      ),
    );
  const seen = gateway === null ? 'no gateway' : `gateway ${gateway} is not in listener.allowed_cidrs`;
  return found.length > 0
    ? found
    : [
        ok(
          NAME,
          hidden
            ? `Gateway ${gateway} is allowed, and this is no container.`
            : `Nothing hides them: ${seen}.`,
        ),
      ];
};

/** The only source of what waits, if there is enough of it to tell. */
async function singleSource({ views }: Premises): Promise<string | null> {
  const page = await views?.waiting({ lane: 'all', after: null, limit: SAMPLE });
  const known = (page?.deliveries ?? []).flatMap(({ sourceAddress }) => sourceAddress ?? []);
  const [first] = known;
  if (first === undefined || known.length < ENOUGH) return null;
  return known.every((source) => source === first) ? first : null;
}
