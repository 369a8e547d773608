package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgtaskd/exec/fault"
	"pgtaskd/remote"
	"pgtaskd/sql/schema"
	"pgtaskd/work/target"
)

// options returns the options of the table's schema that depend on the target, and the role that
// serves it.
func options(t target.Target, role string) schema.Options {
	return schema.Options{Defaults: t.Defaults, Wake: t.Wake, Inserter: t.Inserter, Serving: role, Made: made(t)}
}

// complete adds what the table lacks: as the target's role, or, if that role may not, as the dsn's
// user, who then grants the rights to the role. Without keep it only tries. There is no error if
// the table can be served as it is.
func complete(
	ctx context.Context, conn *pgx.Conn, t target.Target, o schema.Options, keep bool,
) (made []schema.Change, byAdmin bool, err error) {
	if !t.Create {
		_, needed := shortfall(ctx, conn, t, o)
		return nil, false, needed
	}
	install := schema.Install
	if !keep {
		install = schema.Rehearse
	}
	made, err = install(ctx, conn, t.Relation(), o)
	if err == nil {
		err = remaining(made)
	}
	if err == nil || !fault.IsDenied(err) {
		return made, false, err
	}
	old, needed := shortfall(ctx, conn, t, o)
	if needed == nil && len(old) == 0 {
		return made, false, nil // the missing objects are optional
	}
	err = asAdmin(ctx, t, err, func(conn *pgx.Conn) error {
		byAdmin = true
		help, err := install(ctx, conn, t.Relation(), o)
		made = append(made, help...)
		if err == nil && keep {
			err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return schema.GrantBeside(ctx, tx, t.Relation(), o.Serving) })
		}
		return cmp.Or(err, remaining(help))
	})
	if needed == nil {
		err = nil
	}
	return made, byAdmin, err
}

// remaining returns why an object of another version, or of a dump, could not be made again.
func remaining(made []schema.Change) error {
	for _, change := range made {
		if change.Outdated && change.Failed != nil {
			return change.Failed
		}
	}
	return nil
}

// asAdmin calls do as the dsn's user in the target's database. If that is the same user, or is
// refused too, asAdmin returns the first refusal.
func asAdmin(ctx context.Context, t target.Target, refusal error, do func(*pgx.Conn) error) error {
	if t.Admin["user"] == t.Connect["user"] && t.Admin["user"] != "" {
		return refusal
	}
	t.Admin = t.Admin.With(remote.Settings{"dbname": t.Connect["dbname"]})
	conn, err := admin(ctx, t)
	if err != nil {
		return refusal
	}
	defer func() { _ = conn.Close(ctx) }()
	if err = do(conn); fault.IsDenied(err) {
		return refusal
	}
	return err
}

// shortfall says what the table lacks, and which objects of another version of pgtaskd or of a dump
// it has, if it is served so because we may not change it. needed: it cannot be served as it is.
func shortfall(ctx context.Context, conn *pgx.Conn, t target.Target, o schema.Options) (old []string, needed error) {
	changes, err := schema.Missing(ctx, conn, t.Relation(), o)
	if err != nil {
		return nil, err
	}
	const do = "run the output of pgtaskd schema --config FILE"
	missing := those(changes, func(c schema.Change) bool { return !c.Optional })
	switch {
	case slices.ContainsFunc(missing, func(c schema.Change) bool { return c.What == "table "+t.Relation().String() }):
		return nil, fmt.Errorf(`table %s does not exist, and "create" is false: %s, or set "create": true`, t.Relation(), do)
	case slices.ContainsFunc(missing, func(c schema.Change) bool { return !c.Later }):
		return nil, fmt.Errorf("table %s lacks %s, and may not be changed: %s", t.Relation(), names(missing), do)
	}
	if outdated := those(changes, func(c schema.Change) bool { return c.Outdated }); len(outdated) > 0 {
		old = append(old, fmt.Sprintf("table %s has what another version of pgtaskd or a dump has brought, and what may not be replaced: %s; %s",
			t.Relation(), names(outdated), do))
	}
	if !t.Create {
		missing = those(changes, func(c schema.Change) bool {
			kind, _, _ := strings.Cut(c.What, " ")
			return !c.Outdated && kind != "comment" && kind != "option"
		})
	}
	if len(missing) > 0 {
		old = append(old, fmt.Sprintf("table %s lacks %s, which this version would add; what needs that does not work until then: %s",
			t.Relation(), names(missing), do))
	}
	return old, nil
}

// summary lists what was created and what was made again.
func summary(made []schema.Change) string {
	var sentences []string
	if created := those(made, func(c schema.Change) bool { return !c.Outdated }); len(created) > 0 {
		sentences = append(sentences, "created "+names(created))
	}
	if again := those(made, func(c schema.Change) bool { return c.Outdated }); len(again) > 0 {
		sentences = append(sentences, "made again "+names(again))
	}
	return strings.Join(sentences, "; ")
}

// those returns the changes for which so is true.
func those(changes []schema.Change, so func(schema.Change) bool) []schema.Change {
	return slices.DeleteFunc(slices.Clone(changes), func(c schema.Change) bool { return !so(c) })
}

// names lists the first changes, which say most.
func names(changes []schema.Change) string {
	const most = 6
	var names []string
	for _, change := range changes[:min(most, len(changes))] {
		names = append(names, change.What)
	}
	if more := len(changes) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
