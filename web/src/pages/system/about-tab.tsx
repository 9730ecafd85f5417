import { Card, KeyValue } from '../../parts/card.tsx';
import { Copyable } from '../../parts/copy.tsx';
import { Fetched } from '../../parts/states.tsx';
import { Bytes, Duration, Time } from '../../parts/values.tsx';
import { useCall } from '../../queries.ts';

/** What runs here, and where. */
export function AboutTab() {
  const system = useCall('system', {});
  return (
    <Fetched query={system} lines={8}>
      {(view) => (
        <div className="grid items-start gap-4 xl:grid-cols-2">
          <Card title="This installation">
            <KeyValue
              rows={[
                ['Version', `Waybill ${view.version}`],
                ['Node.js', view.nodeVersion],
                ['Platform', view.platform],
                ['Host', view.hostname],
                ['Node', <Copyable key="node" text={view.node.id} />],
                ['Data directory', <Copyable key="data" text={view.dataDir} />],
                ['Process', view.pid],
                ['Started', <Time key="started" at={view.startedAt} exact />],
                ['Up', <Duration key="up" ms={view.uptimeSeconds * 1000} />],
                [
                  'Memory',
                  <>
                    <Bytes bytes={view.memory.residentBytes} />, of which heap{' '}
                    <Bytes bytes={view.memory.heapBytes} />
                  </>,
                ],
              ]}
            />
          </Card>
          <Card title="For machines">
            <KeyValue
              rows={[
                [
                  'Health',
                  <a key="health" className="link" href="/health">
                    /health
                  </a>,
                ],
                [
                  'Metrics',
                  <a key="metrics" className="link" href="/metrics">
                    /metrics
                  </a>,
                ],
                ['Licence', 'Apache 2.0'],
              ]}
            />
          </Card>
        </div>
      )}
    </Fetched>
  );
}
