"""The cases, one file per area. Each file has ``cases(settings)``, which yields `Case`s and `Peak`s."""

from cases import cluster, gp, gram, large, logistic, neighbours, plan, predict, ridge, svm, tune

AREAS = (gram, predict, ridge, tune, svm, neighbours, plan, large, logistic, cluster, gp)


def all_cases(settings):
    return [case for area in AREAS for case in area.cases(settings)]
