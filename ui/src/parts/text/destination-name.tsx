import './destination-name.css';

/** A provider and its model. Of long names, the beginnings of both are shown. */
export const DestinationName = ({
  provider,
  model = '',
}: {
  readonly provider: string;
  readonly model?: string | undefined;
}) => (
  <span className="destination" title={`${provider}, ${model}`}>
    <span>{provider},</span> <span>{model}</span>
  </span>
);
