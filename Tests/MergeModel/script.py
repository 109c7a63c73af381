"""python3 script.py SEEDS [FIRST]: random runs of go.py's mixes, every merge of the server as a JSON line: the change set that
came, the answer, and what it changed. Another implementation is fed the same change sets and must come to the same."""
import copy, json, math, sys
import model
from go import F
from sim import run
from model import FIX, REF, Server

MIXES = list(F)
# A create's incarnation is the stamp of its save, also after a new replica id.
FLAGS = dict(FIX, inc_keep=False)
out = sys.stdout


def value(v):
    return repr(v) if isinstance(v, tuple) else v


def record(r, wp):
    return dict(id=r.id, t=r.t, inc=r.inc, incs=sorted(r.incs), dead=r.dead, alias=r.alias, dst=r.dst if r.dead else None,
                causes=sorted(r.causes) if r.dead == 'user' else [], pos=r.pos, mpos=r.mpos, life=r.life,
                f={f: [value(v), st, p, math.ceil(wp.get((r.id, f), 0))] for f, (v, st, p) in r.f.items()})


def operation(op):
    if op[0] == 'new':
        return dict(k='new', id=op[1], t=op[2], vals={f: value(v) for f, v in op[4].items()}, written=list(op[5]))
    if op[0] == 'set':
        return dict(k='set', id=op[1], inc=op[2], f=op[3], v=value(op[4]), base=op[5])
    if op[0] == 'add':
        return dict(k='add', id=op[1], inc=op[2], f=op[3], v=op[4])
    if op[0] == 'del':
        return dict(k='del', id=op[1], inc=op[2], cause=op[3])
    if op[0] == 'link':
        return dict(k='link', id=op[1], to=op[2], on=op[3], base=op[4])
    return dict(k=op[0], id='P0')


class Recorded(Server):
    """A server that prints what it does; `shown` is what has been printed of each record and link."""

    def __init__(s, fl):
        super().__init__(fl)
        s.shown, s.shown_links, s.shown_log = {}, {}, 0
        print(json.dumps(dict(k='start')), file=out)

    def merge(s, rid, cs):
        for op in cs['ops']:
            assert op[0] != 'new' or op[3] == cs['stamp']
        sent = dict(uid=cs['uid'], no=cs['no'], stamp=cs['stamp'], cur=cs['cur'], ops=[operation(o) for o in cs['ops']])
        if cs.get('orig'):
            sent['orig'] = cs['orig']
        answer = super().merge(rid, cs)
        told = list(answer)
        if answer[0] == 'ok':
            told = ['ok', sorted(answer[1])]
        print(json.dumps(dict(k='merge', rid=rid, T=s.T, cs=sent, answer=told, **s.news())), file=out)
        return answer

    def news(s):
        """what has changed since this was last asked"""
        changed = []
        for i, r in s.rec.items():
            now = json.dumps(record(r, s.wp))
            if s.shown.get(i) != now:
                s.shown[i] = now
                changed.append(record(r, s.wp))
        links = []
        for k, l in s.links.items():
            if s.shown_links.get(k) != l:
                s.shown_links[k] = l
                links.append([*k, l[0], l[1], l[2]])
        log = [[who, st, why, i, f] for who, st, why, i, f in s.log[s.shown_log:]]
        s.shown_log = len(s.log)
        view = {i: {f: s.eff(s.rec[i], f) for f in s.rec[i].f if f in REF[s.rec[i].t]} for i in (r['id'] for r in changed) if not s.rec[i].dead}
        return dict(changed=changed, links=links, log=log, seq=s.seq, view=view)

    def __deepcopy__(s, memo):
        """the copy that a restore goes back to"""
        print(json.dumps(dict(k='backup')), file=out)
        copied = object.__new__(type(s))
        memo[id(s)] = copied
        for name, held in vars(s).items():
            setattr(copied, name, copy.deepcopy(held, memo))
        return copied

    def restored(s, had):
        super().restored(had)
        s.shown_log = len(s.log)
        print(json.dumps(dict(k='restored', epoch=s.epoch, seq=s.seq)), file=out)

    def upload(s, rid, rows, dead, links, p, vec):
        items = dict(rows={i: dict(t=t, inc=inc, f={f: [value(v), st] for f, (v, st) in fs.items()}) for i, (t, inc, fs) in rows.items()},
                     dead=[dict(id=i, t=t, inc=inc, alias=alias, causes=sorted(causes or ()), dst=dst) for _, i, t, inc, alias, causes, dst in dead],
                     pairs=[[*k, l[0], l[1]] for k, l in links.items()])
        super().upload(rid, rows, dead, links, p, vec)
        print(json.dumps(dict(k='upload', rid=rid, T=s.T, p=p, epoch=s.epoch - 1, vec=sorted(vec.items()), **items, **s.news())), file=out)

    def collect(s, upto):
        had = set(s.rec)
        super().collect(upto)
        gone = sorted(had - set(s.rec))
        for i in gone:
            s.shown.pop(i, None)
        print(json.dumps(dict(k='collect', ids=gone)), file=out)


if __name__ == '__main__':
    import sim
    sim.Server = Recorded
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for n in range(first, first + int(sys.argv[1])):
        name = MIXES[n % len(MIXES)]
        model.UID[0] = 0
        print(json.dumps(dict(k='run', mix=name, seed=n)), file=out)
        run(n, FLAGS, F[name])
        print(json.dumps(dict(k='end')), file=out)
