/* tests/comm/vote_flood.pml - how ranks that only exchange messages come to one answer on a sum
 * (src/comm/vote_flood.*), for spin: tests/comm/verdicts_model runs it, with all interleavings of
 * RANKS ranks (2 to 4), DEATHS deaths at any point, also between two messages of one round, and
 * REFUSALS failures of other reasons. Of what a dead rank has sent each other one gets as much as
 * it hears before it knows of the death.
 *
 * MUTANT leaves something out, and must then be found: 1 the answer that a rank tells when it has
 * it, 2 that all have told the same in the round that settles it, 3 the wait for all that live. */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef REFUSALS
#define REFUSALS 1
#endif
#ifndef MUTANT
#define MUTANT 0
#endif
#define MADE 1
#define GOES_ON 2
#define ALL ((1 << RANKS) - 1)
#define BIT(rank) (1 << (rank))
#define LINK(from, to) link[(from) * RANKS + (to)]

/* round (0: the answer), what votes have in common, who is dead, whose votes are known */
chan link[RANKS * RANKS] = [RANKS + 2] of {byte, byte, byte, byte};
byte dead = 0;
byte deaf = 0; /* who hears nothing any more: the dead, and those with an answer */
byte deaths = 0;
byte may_die = DEATHS; /* so many at most */
byte refusals = 0;
byte verdict[RANKS]; /* 0: it has none yet; else 1 + what votes have in common */

/* All that live have the same answer, and the dead have had no result that these lack. */
inline answer() {
    for (other : 0 .. RANKS - 1) {
        assert(verdict[other] == 0 || verdict[other] == 1 + common ||
               ((dead & BIT(other)) && ((verdict[other] - 1) & MADE) <= (common & MADE)))
    }
    assert(common == MADE + GOES_ON || refusals > 0 || deaths > 0);
    verdict[me] = 1 + common
}

inline die() {
    deaths++;
    may_die--;
    dead = dead | BIT(me);
    goto over
}

/* At some time nobody dies any more, so that ranks may not wait for deaths. */
active proctype fate() {
    may_die = 0
}

/* Tells all others, one after the other; who dies meanwhile has told some of them. Others hear it
 * whenever they like, so that this may be one step. */
inline say(what_round) {
    for (other : 0 .. RANKS - 1) {
        if
        :: other != me && (gone & BIT(other)) == 0 && (deaf & BIT(other)) == 0 ->
            LINK(me, other) ! what_round, common, gone, known
        :: else
        fi;
        if
        :: may_die > 0 -> die()
        :: true
        fi
    }
}

/* What is of no more use does not tell states apart. */
inline forget() {
    for (other : 0 .. RANKS - 1) {
        do
        :: nempty(LINK(other, me)) -> LINK(other, me) ? _, _, _, _
        :: empty(LINK(other, me)) -> break
        od
    }
    other = 0; now = 0; common = 0; told_gone = 0; told_known = 0; heard = 0; gone = 0; known = 0;
    same = false
}

/* The message of a round, or the answer, of a rank that is not known to be dead; or its death. */
#define HEAR(peer)                                                                                 \
    :: atomic {                                                                                    \
        peer != me && (gone & BIT(peer)) == 0 && (heard & BIT(peer)) == 0 &&                       \
        LINK(peer, me) ? [eval(now), _, _, _] ->                                                   \
            LINK(peer, me) ? _, its_common, its_gone, its_known;                                   \
            same = same && its_gone == told_gone && its_known == told_known;                       \
            gone = gone | its_gone;                                                                \
            known = known | its_known;                                                             \
            common = common & its_common;                                                          \
            heard = heard | BIT(peer);                                                             \
            its_common = 0;                                                                        \
            its_gone = 0;                                                                          \
            its_known = 0                                                                          \
    }                                                                                              \
    :: atomic {                                                                                    \
        peer != me && (gone & BIT(peer)) == 0 && LINK(peer, me) ? [0, _, _, _] ->                  \
            LINK(peer, me) ? _, common, _, _;                                                      \
            goto decides                                                                           \
    }                                                                                              \
    :: atomic { (dead & BIT(peer)) && (gone & BIT(peer)) == 0 -> gone = gone | BIT(peer) }

proctype rank(byte me) {
    byte other, now, common, its_common, its_gone, its_known, told_gone, told_known, heard;
    byte gone = 0; /* who is known to be dead */
    byte known = BIT(me);
    bool same = true;

    atomic {
        /* Its vote: the result or not; a rank that knows of a death does not go on. */
        common = MADE + GOES_ON;
        if
        :: true
        :: refusals < REFUSALS -> refusals++; common = common & ~MADE
        :: deaths > 0 -> common = common & ~MADE
        fi;
        if
        :: true
        :: deaths > 0 -> common = common & ~GOES_ON
        fi;
        if
        :: common == 0 -> goto decides
        :: else
        fi;
begins:
        now++;
        told_gone = gone;
        told_known = known;
        same = true;
        heard = 0;
        say(now);
        other = 0
    }
    do
    HEAR(0)
    HEAR(1)
#if RANKS > 2
    HEAR(2)
#endif
#if RANKS > 3
    HEAR(3)
#endif
    :: atomic { may_die > 0 -> die() }
    :: atomic {
        (heard | gone | BIT(me)) == ALL || (MUTANT == 3 && now < RANKS) ->
            if
            :: known == ALL -> goto decides
            :: known != ALL && ((same && gone == told_gone) || MUTANT == 2) ->
                common = common & ~GOES_ON;
                goto decides
            :: else -> goto begins
            fi
    }
    od;
decides:
    atomic {
        answer();
        deaf = deaf | BIT(me);
        /* Between two ranks each says one thing: its vote, or, instead of it, the answer. */
        if
        :: MUTANT != 1 && (RANKS > 2 || now == 0) -> say(0)
        :: else
        fi;
        goto waits
    }
    /* It has gone, and may die at any time. */
waits:
    atomic {
        forget();
        if
        :: may_die > 0 -> goto end
        :: else -> goto quits
        fi
    }
end:
    atomic { may_die > 0 -> die() }
over:
    atomic {
        deaf = deaf | BIT(me);
        forget()
    }
quits:
    skip
}

init {
    byte each;
    atomic {
        for (each : 0 .. RANKS - 1) {
            run rank(each)
        }
    }
}
