-- The retry core's tables. Live jobs, finished ones and dead letters lie apart, so that a claim never
-- meets history. States: 0 Pending, 1 Fetched, 2 Processing (jobs_hot), 3 Succeeded (jobs_archive),
-- 4 Failed, 5 Cancelled, 6 Zombie (jobs_dlq). Lengths are those of src/chokaq/jobs/limits.ts.

create schema if not exists chokaq;

-- A fencing token for each fetch of a job: who holds an older one can move it no more.
create sequence chokaq.lease_tokens as bigint;

create table chokaq.jobs_hot (
  id                  text collate "C" not null,
  queue               text collate "C" not null,
  type                text collate "C" not null,
  -- json, not jsonb, which could not hold the text \u0000; what was enqueued comes out byte for byte.
  payload             json             not null,
  priority            smallint         not null,
  state               smallint         not null default 0,
  attempts            integer          not null default 0,
  idempotency_key     text collate "C",
  tags                text[]           not null default '{}',
  scheduled_at        timestamptz      not null default clock_timestamp(),
  owner               text collate "C",
  token               bigint,
  heartbeat_at        timestamptz,
  started_at          timestamptz,
  progress            smallint,
  cancel_requested_by text,
  cancel_reason       text,
  last_error          text,
  checkpoint          json,
  created_by          text,
  modified_by         text,
  created_at          timestamptz      not null default clock_timestamp(),
  -- A resurrected job's age begins anew; created_at stays.
  enqueued_at         timestamptz      not null default clock_timestamp(),
  constraint pk_jobs_hot primary key (id),
  constraint ck_jobs_hot_id check (length(id) = 26),
  constraint ck_jobs_hot_lengths check (
    length(queue) between 1 and 64 and length(type) between 1 and 128
    and length(idempotency_key) between 1 and 255 and length(owner) between 1 and 128
  ),
  constraint ck_jobs_hot_priority check (priority between 0 and 100),
  constraint ck_jobs_hot_progress check (progress between 0 and 100),
  constraint ck_jobs_hot_state check (state in (0, 1, 2)),
  -- Pending belongs to nobody; Fetched and Processing to an owner who is alive or will be found silent.
  constraint ck_jobs_hot_owner check (
    case when state = 0 then owner is null and heartbeat_at is null
      else owner is not null and heartbeat_at is not null and token is not null end
  ),
  constraint ck_jobs_hot_started check (
    attempts >= 0 and (state <> 2 or (attempts >= 1 and started_at is not null))
  ),
  constraint ck_jobs_hot_cancel check (
    (cancel_requested_by is null) = (cancel_reason is null)
    and (cancel_requested_by is null or state = 2)
  ),
  -- No infinity, no mistaken unit: a claim reckons with every time that it meets, and one that can't be
  -- reckoned with would end the claims of all.
  constraint ck_jobs_hot_times check (
    least(scheduled_at, heartbeat_at, started_at, created_at, enqueued_at) >= '1970-01-01 00:00Z'
    and greatest(scheduled_at, heartbeat_at, started_at, created_at, enqueued_at)
      < '10000-01-01 00:00Z'
  )
);
-- The claim: queue by queue, priority by priority, what is due from the front. Future ones lie behind
-- those of their own priority, and are never walked over.
create index ix_jobs_hot_pending on chokaq.jobs_hot (queue, priority, scheduled_at, id)
  where state = 0;
-- Who is at work: counted for MaxWorkers and looked through for the silent. No more entries than workers.
-- heartbeat_at is in no index, so that a heartbeat is a heap-only update.
create index ix_jobs_hot_active on chokaq.jobs_hot (queue, id) where state in (1, 2);
create unique index ux_jobs_hot_idempotency on chokaq.jobs_hot (idempotency_key)
  where idempotency_key is not null;
-- Each job is written three to four times and then deleted: room on the page for heartbeats, and vacuum
-- by the number of dead rows, for the table itself is small or full of work. Dead entries at the front
-- of ix_jobs_hot_pending are what makes a claim slow, so its vacuum doesn't rest in between.
alter table chokaq.jobs_hot set (
  fillfactor = 70,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);

-- The moves within this table that there are (src/chokaq/kernel/job-state.ts). The condition alone is
-- looked at for a legal one, so it costs a job next to nothing; a heartbeat, nothing at all.
create function chokaq.refuse_move() returns trigger language plpgsql as $$
begin
  raise exception 'no move leads a job from state % to state %', old.state, new.state
    using errcode = 'check_violation', constraint = 'tr_jobs_hot_move';
end
$$;
create trigger tr_jobs_hot_move after update of state on chokaq.jobs_hot
  for each row
  when (old.state <> new.state and (old.state, new.state) not in ((0, 1), (1, 0), (1, 2), (2, 0)))
  execute function chokaq.refuse_move();

create table chokaq.jobs_archive (
  id              text collate "C" not null,
  queue           text collate "C" not null,
  type            text collate "C" not null,
  payload         json             not null,
  priority        smallint         not null,
  state           smallint         not null default 3,
  attempts        integer          not null,
  idempotency_key text collate "C",
  tags            text[]           not null,
  owner           text collate "C" not null,
  token           bigint           not null,
  checkpoint      json,
  created_by      text,
  modified_by     text,
  created_at      timestamptz      not null,
  started_at      timestamptz      not null,
  finished_at     timestamptz      not null default clock_timestamp(),
  duration_ms     double precision not null,
  constraint pk_jobs_archive primary key (id),
  constraint ck_jobs_archive_state check (state = 3 and attempts >= 1),
  constraint ck_jobs_archive_duration check (duration_ms between 0 and 315360000000),
  constraint ck_jobs_archive_times check (
    least(created_at, started_at, finished_at) >= '1970-01-01 00:00Z'
    and greatest(created_at, started_at, finished_at) < '10000-01-01 00:00Z'
  )
);
create index ix_jobs_archive_finished on chokaq.jobs_archive (finished_at, id);
-- "Has this been done before?"
create index ix_jobs_archive_idempotency on chokaq.jobs_archive (type, idempotency_key, finished_at)
  where idempotency_key is not null;

create table chokaq.jobs_dlq (
  id              text collate "C" not null,
  queue           text collate "C" not null,
  type            text collate "C" not null,
  payload         json             not null,
  priority        smallint         not null,
  state           smallint         not null,
  attempts        integer          not null,
  idempotency_key text collate "C",
  tags            text[]           not null,
  owner           text collate "C",
  token           bigint,
  checkpoint      json,
  created_by      text,
  modified_by     text,
  created_at      timestamptz      not null,
  started_at      timestamptz,
  finished_at     timestamptz      not null default clock_timestamp(),
  duration_ms     double precision,
  reason          text collate "C" not null,
  details         text             not null,
  constraint pk_jobs_dlq primary key (id),
  constraint ck_jobs_dlq_duration check (duration_ms between 0 and 315360000000),
  constraint ck_jobs_dlq_times check (
    least(created_at, started_at, finished_at) >= '1970-01-01 00:00Z'
    and greatest(created_at, started_at, finished_at) < '10000-01-01 00:00Z'
  ),
  constraint ck_jobs_dlq_state check (
    state = case reason when 'Cancelled' then 5 when 'Zombie' then 6 else 4 end
  ),
  constraint ck_jobs_dlq_reason check (reason in (
    'MaxRetriesExceeded', 'Cancelled', 'Zombie', 'CircuitBreakerOpen', 'Throttled', 'FatalError',
    'InvalidPayload', 'UnknownType', 'Timeout', 'HeartbeatFailure', 'RetryLifetimeExpired'
  ))
);
create index ix_jobs_dlq_finished on chokaq.jobs_dlq (finished_at, id);
create index ix_jobs_dlq_queue on chokaq.jobs_dlq (queue);

-- A queue needs no row; one that has a row may be paused or limited.
create table chokaq.queues (
  name              text collate "C" not null,
  paused            boolean          not null default false,
  max_workers       integer,
  zombie_timeout_ms bigint,
  timeout_ms        bigint,
  updated_at        timestamptz      not null default clock_timestamp(),
  updated_by        text,
  constraint pk_queues primary key (name),
  constraint ck_queues_limits check (
    length(name) between 1 and 64 and max_workers between 1 and 10000
    and zombie_timeout_ms > 0 and timeout_ms > 0
  )
);

-- What ended within one second. A lane per session keeps sessions that finish jobs of one queue in the
-- same second from waiting for each other.
create table chokaq.metric_buckets (
  second      timestamptz      not null,
  queue       text collate "C" not null,
  lane        smallint         not null,
  succeeded   integer          not null default 0,
  failed      integer          not null default 0,
  retried     integer          not null default 0,
  duration_ms double precision not null default 0,
  constraint pk_metric_buckets primary key (second, queue, lane)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

-- The sums of buckets that are gone: what has ever happened is this and the buckets that are left.
create table chokaq.stats_summary (
  queue      text collate "C" not null,
  succeeded  bigint           not null default 0,
  failed     bigint           not null default 0,
  retried    bigint           not null default 0,
  updated_at timestamptz      not null default clock_timestamp(),
  constraint pk_stats_summary primary key (queue)
);

-- Claims up to p_limit due jobs for p_owner: by priority, then the longest due, then id.
--
-- MaxWorkers is never exceeded: the rows of limited queues are locked first, and a later statement of
-- this function counts who is at work. In READ COMMITTED each statement of a volatile function sees
-- what has committed before it began, so the count sees whatever another claim of that queue has taken
-- before it let go of the lock. In one plain statement the lock and the count would share a snapshot
-- from before the lock. A queue whose lock another claim holds just now is left to that one.
-- Being one statement for the client, no frozen client can keep the locks.
--
-- The planner is held to the indexes: what it knows of the table is from another moment, and a plan made
-- while the table was empty would read all of a backlog of 20,000.
--
-- Future jobs cost nothing: queues and priorities in use are found by skipping through the index, and
-- each (queue, priority) is read from its longest due job on. Where several queues have jobs of one
-- priority, more rows may be locked than are taken; they are free again when this statement ends.
create function chokaq.fetch_jobs(p_owner text, p_limit integer, p_queues text[])
returns setof chokaq.jobs_hot
language plpgsql volatile
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now     timestamptz := clock_timestamp();
  v_wanted  integer := p_limit;
  v_taken   integer;
  v_pairs   jsonb;
  v_limited text[];
  v_step    record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'chokaq.fetch_jobs needs the isolation level read committed, not %',
        current_setting('transaction_isolation')
      using errcode = 'invalid_transaction_state',
        hint = 'Call it outside of transactions, and leave default_transaction_isolation as it is.';
  end if;

  with recursive pair (queue, priority) as (
    (select j.queue, j.priority from chokaq.jobs_hot j where j.state = 0
     order by j.queue, j.priority limit 1)
    union all
    select n.queue, n.priority from pair p cross join lateral (
      select j.queue, j.priority from chokaq.jobs_hot j
      where j.state = 0 and (j.queue, j.priority) > (p.queue, p.priority)
      order by j.queue, j.priority limit 1
    ) n
  )
  select jsonb_agg(p) into v_pairs from pair p cross join lateral (
    -- With a limit it stays a look at one entry for each pair; an exists would become a join of all.
    select from chokaq.jobs_hot j
    where j.state = 0 and j.queue = p.queue and j.priority = p.priority
      and j.scheduled_at <= v_now
    order by j.scheduled_at limit 1
  ) longest_due
  where p_queues is null or p.queue = any (p_queues);
  if v_pairs is null then
    return;
  end if;

  select coalesce(array_agg(l.name), '{}') into v_limited from (
    select q.name from chokaq.queues q
    where q.max_workers is not null and not q.paused
      and q.name in (select p.queue from jsonb_to_recordset(v_pairs) as p (queue text))
      and q.max_workers > (
        select count(*) from chokaq.jobs_hot a where a.state in (1, 2) and a.queue = q.name
      )
    order by q.name
    for no key update skip locked
  ) l;

  for v_step in
    select p.priority, array_agg(p.queue) as queues
    from jsonb_to_recordset(v_pairs) as p (queue text, priority smallint)
    group by p.priority order by p.priority desc
  loop
    return query
    with room as (
      select u.queue, case
          when q.max_workers is null then v_wanted
          else q.max_workers - (
            select count(*)::integer from chokaq.jobs_hot a
            where a.state in (1, 2) and a.queue = u.queue
          )
        end as places
      from unnest(v_step.queues) as u (queue)
      left join chokaq.queues q on q.name = u.queue
      where not coalesce(q.paused, false)
        and (q.max_workers is null or q.name = any (v_limited))
    ),
    picked as materialized (
      select c.id from room r cross join lateral (
        select j.id, j.scheduled_at from chokaq.jobs_hot j
        where j.state = 0 and j.queue = r.queue and j.priority = v_step.priority
          and j.scheduled_at <= v_now
        order by j.scheduled_at, j.id
        limit greatest(0, least(r.places, v_wanted))
        for no key update skip locked
      ) c
      order by c.scheduled_at, c.id
      limit v_wanted
    )
    update chokaq.jobs_hot h
    set state = 1, owner = p_owner, token = nextval('chokaq.lease_tokens'),
      heartbeat_at = clock_timestamp()
    from picked where h.id = picked.id
    returning h.*;

    get diagnostics v_taken = row_count;
    v_wanted := v_wanted - v_taken;
    exit when v_wanted <= 0;
  end loop;
end
$$;
